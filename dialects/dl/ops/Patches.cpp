// What the patches of a convolution mean: shape and lowering.

#include "dialects/dl/ops/Patches.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Patches.cpp.inc"

namespace dlc::dl {

void registerPatchesOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Patches.cpp.inc"
      >();
}

LogicalResult PatchesOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  size_t spatial = getKernel().size();
  auto positive = [](int64_t v) { return v > 0 && v < (int64_t(1) << 31); };
  auto nonNegative = [](int64_t v) { return v >= 0 && v < (int64_t(1) << 31); };
  if (input.rank() < 3 || input.rank() > 5 || size_t(input.rank()) != spatial + 2 ||
      getStrides().size() != spatial || getDilations().size() != spatial ||
      getPads().size() != 2 * spatial || !llvm::all_of(getKernel(), positive) ||
      !llvm::all_of(getStrides(), positive) || !llvm::all_of(getDilations(), positive) ||
      !llvm::all_of(getPads(), nonNegative)) // C1
    return c.error() << "needs a positive kernel size, stride and dilation per spatial axis, and "
                        "two pads, for an input of rank "
                     << input.rank();
  Shape dims = {input.dims[0]};
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t window = (getKernel()[axis] - 1) * getDilations()[axis] + 1;
    AffineExpr room = input.dims[1 + axis] + (getPads()[axis] + getPads()[axis + spatial] - window);
    if (auto size = constantSize(room); size && *size < 0) // C2
      return c.error() << "window is larger than the padded input along spatial axis " << axis;
    dims.push_back(room.floorDiv(getStrides()[axis]) + 1);
  }
  for (int64_t taps : getKernel())
    dims.push_back(c.constant(taps));
  dims.push_back(input.dims.back());
  c.addResult(dims, input.element);
  return success();
}

FailureOr<SmallVector<Value>> PatchesOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  int64_t spatial = getKernel().size(), rank = 2 * spatial + 2;
  Value input = l.operand(getInput());
  if (llvm::any_of(getPads(), [](int64_t p) { return p != 0; })) {
    SmallVector<OpFoldResult> low(spatial + 2, b.getIndexAttr(0)), high = low;
    for (int64_t axis = 0; axis < spatial; ++axis) {
      low[1 + axis] = b.getIndexAttr(getPads()[axis]);
      high[1 + axis] = b.getIndexAttr(getPads()[axis + spatial]);
    }
    Value zero = l.scalar(l.type(getInput()).getElementType(), 0);
    input = tensor::PadOp::create(b, l.loc, Type(), input, low, high, zero);
  }
  SmallVector<AffineExpr> read = {b.getAffineDimExpr(0)};
  for (int64_t axis = 0; axis < spatial; ++axis)
    read.push_back(b.getAffineDimExpr(1 + axis) * getStrides()[axis] +
                   b.getAffineDimExpr(1 + spatial + axis) * getDilations()[axis]);
  read.push_back(b.getAffineDimExpr(rank - 1));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  return SmallVector<Value>{l.generic(
      {input}, l.empty(getResult()),
      {AffineMap::get(rank, 0, read, b.getContext()), b.getMultiDimIdentityMap(rank)}, kinds,
      [](OpBuilder &, Location, ValueRange x) { return x[0]; })};
}

} // namespace dlc::dl
