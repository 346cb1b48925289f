// What the gradient of a convolution by its filter means.

#include "dialects/dl/ops/ConvGradient.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/LinalgLowering.h"
#include "dialects/dl/ops/Conv.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/ConvGradient.cpp.inc"

namespace dlc::dl {

void registerConvGradientOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/ConvGradient.cpp.inc"
      >();
}

LogicalResult ConvFilterGradientOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), grad = c.of(getGrad());
  size_t spatial = spatialRank();
  if (input.rank() < 3 || input.rank() > 5 || grad.rank() != input.rank() ||
      input.element != grad.element) // C1
    return c.error() << "input has rank " << input.rank() << " and type " << input.element
                     << ", grad " << grad.rank() << " and " << grad.element
                     << ", expects the same, rank 3 to 5";
  auto positive = [](int64_t v) { return v > 0 && v < (int64_t(1) << 31); };
  auto nonNegative = [](int64_t v) { return v >= 0 && v < (int64_t(1) << 31); };
  if (spatial + 2 != size_t(input.rank()) || getStrides().size() != spatial ||
      getDilations().size() != spatial || getPads().size() != 2 * spatial ||
      !llvm::all_of(getKernel(), positive) || !llvm::all_of(getStrides(), positive) ||
      !llvm::all_of(getDilations(), positive) || !llvm::all_of(getPads(), nonNegative)) // C3
    return c.error() << "needs a positive kernel size, stride and dilation for each of "
                     << input.rank() - 2 << " spatial axes, and two pads";
  int64_t groups = getGroups();
  if (failed(c.equal(input.dims[0], grad.dims[0], "batch sizes"))) // C2
    return failure();
  for (AffineExpr channels : {input.dims[channelAxis()], grad.dims[channelAxis()]})
    if (auto size = constantSize(channels); groups < 1 || (size && *size % groups != 0)) // C2
      return c.error() << "channels are not a multiple of " << groups << " groups";
  Shape dims(input.rank());
  dims[0] = grad.dims[channelAxis()];
  dims[channelAxis()] = input.dims[channelAxis()].floorDiv(groups);
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t window = (getKernel()[axis] - 1) * getDilations()[axis] + 1;
    AffineExpr room = input.dims[spatialAxis() + axis] +
                      (getPads()[axis] + getPads()[axis + spatial] - window);
    if (failed(c.equal(grad.dims[spatialAxis() + axis], room.floorDiv(getStrides()[axis]) + 1,
                       "size of grad along spatial axis " + Twine(axis)))) // C4
      return failure();
    dims[spatialAxis() + axis] = c.constant(getKernel()[axis]);
  }
  c.addResult(dims, input.element);
  return success();
}

FusionRole ConvFilterGradientOp::fusionRole() { return FusionRole::Contraction; }

FailureOr<SmallVector<Value>> ConvFilterGradientOp::lowerToLinalg(LinalgLowering &l) {
  int64_t spatial = spatialRank(), rank = spatial + 2;
  OpBuilder &b = l.b;
  auto outType = cast<RankedTensorType>(getResult().getType());
  if (getGroups() > 1 && (outType.isDynamicDim(0) || outType.isDynamicDim(channelAxis())))
    return emitOpError("unsupported: groups with channels of dynamic size");
  Value input = l.operand(getInput());
  if (llvm::any_of(getPads(), [](int64_t p) { return p != 0; })) {
    SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high = low;
    for (int64_t axis = 0; axis < spatial; ++axis) {
      low[spatialAxis() + axis] = b.getIndexAttr(getPads()[axis]);
      high[spatialAxis() + axis] = b.getIndexAttr(getPads()[axis + spatial]);
    }
    input = tensor::PadOp::create(b, l.loc, Type(), input, low, high,
                                  l.scalar(l.type(getInput()).getElementType(), 0));
  }
  // Loops: the result's axes, then n and the positions of grad.
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
  int64_t loops = rank + 1 + spatial, ch = channelAxis(), at = spatialAxis();
  SmallVector<AffineExpr> inMap(rank), gradMap(rank);
  inMap[0] = gradMap[0] = dim(rank);
  gradMap[ch] = dim(0);
  inMap[ch] = dim(ch);
  if (getGroups() > 1)
    inMap[ch] = dim(0).floorDiv(outType.getDimSize(0) / getGroups()) * outType.getDimSize(ch) + dim(ch);
  for (int64_t axis = 0; axis < spatial; ++axis) {
    AffineExpr y = dim(rank + 1 + axis);
    gradMap[at + axis] = y;
    inMap[at + axis] = y * getStrides()[axis] + dim(at + axis) * getDilations()[axis];
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops, 0, exprs, b.getContext()); };
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.append(1 + spatial, utils::IteratorType::reduction);
  AffineMap outMap = map(b.getMultiDimIdentityMap(rank).getResults());
  return l.accumulate({input, l.operand(getGrad())}, getResult(), {map(inMap), map(gradMap), outMap},
                      kinds, [](ScalarMath &m, ValueRange x) { return m.multiply(x[0], x[1]); });
}

// y = conv(x, w) is linear in both: the gradient by w is linear in x and dy.
FailureOr<SmallVector<Value>> ConvFilterGradientOp::buildGradient(GradientBuilder &g,
                                                                  ArrayRef<Value> grads) {
  if (getChannelsLast())
    return g.refuse("channels-last is made by the layout passes, after differentiation");
  Value dx;
  if (g.needs(getInput()))
    dx = convDataGradient(g, getInput(), getGrad(), grads[0], getStrides(), getDilations(), getPads(),
                          getGroups());
  return SmallVector<Value>{dx, g.make<ConvOp>(getInput(), grads[0], getStridesAttr(),
                                               getDilationsAttr(), getPadsAttr(), getGroupsAttr(),
                                               UnitAttr())};
}

FailureOr<SmallVector<Value>> ConvFilterGradientOp::permuteLayout(OpBuilder &b, ValueRange operands,
                                                                  ArrayRef<int64_t> perm) {
  if (getChannelsLast() || !movesChannelsLast(perm))
    return failure();
  auto op = make<ConvFilterGradientOp>(b, getLoc(), operands[0], operands[1], getKernelAttr(),
                                       getStridesAttr(), getDilationsAttr(), getPadsAttr(),
                                       getGroupsAttr(), b.getUnitAttr());
  if (!op)
    return failure();
  return SmallVector<Value>{op};
}

AffineExpr ConvFilterGradientOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  ArrayRef<AffineExpr> grad = dims(getGrad());
  AffineExpr taps = product(dims(getResult()), getContext());
  AffineExpr positions = grad[0];
  for (int64_t axis = 0; axis < spatialRank(); ++axis)
    positions = positions * grad[spatialAxis() + axis];
  return taps * positions * 2;
}

} // namespace dlc::dl
