// What pooling means: shape, lowering and layout.

#include "dialects/dl/ops/Pool.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Pool.cpp.inc"

namespace dlc::dl {

void registerPoolOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Pool.cpp.inc"
      >();
}

namespace {

int64_t windowSize(PoolOp op, int64_t axis) {
  return (op.getKernel()[axis] - 1) * op.getDilations()[axis] + 1;
}

/// The number of windows along an axis of a known size.
int64_t countWindows(PoolOp op, int64_t axis, int64_t in) {
  int64_t low = op.getPads()[axis], high = op.getPads()[axis + op.spatialRank()];
  int64_t stride = op.getStrides()[axis], room = in + low + high - windowSize(op, axis);
  if (!op.getCeilMode())
    return room / stride + 1;
  int64_t count = (room + stride - 1) / stride + 1;
  return (count - 1) * stride >= in + low ? count - 1 : count;
}

} // namespace

LogicalResult PoolOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  size_t spatial = spatialRank();
  if (input.rank() < 3 || input.rank() > 5 || input.rank() != int64_t(spatial) + 2 ||
      getStrides().size() != spatial || getDilations().size() != spatial ||
      getPads().size() != 2 * spatial) // C1
    return c.error() << "has " << spatial << " kernel sizes, " << getStrides().size()
                     << " strides, " << getDilations().size() << " dilations and "
                     << getPads().size() << " pads for an input of rank " << input.rank();
  auto positive = [](int64_t v) { return v > 0 && v < (int64_t(1) << 31); };
  if (!llvm::all_of(getKernel(), positive) || !llvm::all_of(getStrides(), positive) ||
      !llvm::all_of(getDilations(), positive)) // C1
    return c.error() << "kernel sizes, strides and dilations must be positive";
  Shape dims = input.dims;
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t low = getPads()[axis], high = getPads()[axis + spatial];
    int64_t window = windowSize(*this, axis);
    if (low < 0 || high < 0 || low >= window || high >= window) // C2
      return c.error() << "pads " << low << " and " << high
                       << " must be smaller than the window of " << window;
    AffineExpr &dim = dims[spatialAxis() + axis];
    if (auto size = constantSize(dim)) {
      if (*size + low + high < window) // C3
        return c.error() << "window of " << window << " is larger than the padded input of "
                         << *size + low + high;
      dim = c.constant(countWindows(*this, axis, *size));
      continue;
    }
    AffineExpr room = dim + (low + high - window);
    int64_t stride = getStrides()[axis];
    // In ceil mode a last window that starts past the input is dropped. The last
    // start is at most in + low + high - window + stride - 1, so none does while
    // high + stride <= window; beyond that it depends on the size.
    if (getCeilMode() && high + stride > window)
      return c.error() << "unsupported: ceil_mode with the stride " << stride
                       << " and a window of " << window << " on an axis of symbolic size";
    dim = (getCeilMode() ? room.ceilDiv(stride) : room.floorDiv(stride)) + 1;
  }
  c.addResult(dims, input.element);
  return success();
}

FailureOr<SmallVector<Value>> PoolOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  int64_t spatial = spatialRank(), rank = spatial + 2, loops = rank + spatial;
  Type element = l.element(getInput()), compute = computeType(element);
  bool isMax = getKind() == ReduceKind::max;
  bool isUnsigned = element.isUnsignedInteger();
  // Pad with what never counts, up to where the last window ends.
  Type stored = l.type(getInput()).getElementType();
  Value padding;
  if (isMax && isa<FloatType>(stored))
    padding = arith::ConstantOp::create(
        b, l.loc, b.getFloatAttr(stored, APFloat::getInf(cast<FloatType>(stored).getFloatSemantics(), true)));
  else if (isMax)
    padding = arith::ConstantOp::create(
        b, l.loc, b.getIntegerAttr(stored, isUnsigned ? APInt::getZero(stored.getIntOrFloatBitWidth())
                                                      : APInt::getSignedMinValue(stored.getIntOrFloatBitWidth())));
  else
    padding = l.scalar(stored, 0);
  SmallVector<OpFoldResult> low(rank, b.getIndexAttr(0)), high = low;
  bool isPadded = false;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    int64_t at = spatialAxis() + axis;
    low[at] = b.getIndexAttr(getPads()[axis]);
    high[at] = b.getIndexAttr(getPads()[axis + spatial] +
                              (getCeilMode() ? getStrides()[axis] - 1 : 0));
    isPadded |= getPads()[axis] != 0 || !isConstantIntValue(high[at], 0);
  }
  Value input = l.operand(getInput());
  if (isPadded)
    input = tensor::PadOp::create(b, l.loc, Type(), input, low, high, padding);
  SmallVector<AffineExpr> inMap, outMap, windowMap;
  for (int64_t axis = 0; axis < rank; ++axis) {
    outMap.push_back(b.getAffineDimExpr(axis));
    inMap.push_back(b.getAffineDimExpr(axis));
  }
  SmallVector<OpFoldResult> windowSizes;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    AffineExpr k = b.getAffineDimExpr(rank + axis);
    inMap[spatialAxis() + axis] =
        b.getAffineDimExpr(spatialAxis() + axis) * getStrides()[axis] + k * getDilations()[axis];
    windowMap.push_back(k);
    windowSizes.push_back(b.getIndexAttr(getKernel()[axis]));
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.append(spatial, utils::IteratorType::reduction);
  Value window = l.empty(windowSizes, b.getI8Type()); // gives the loops their bounds
  Value start;
  if (isMax && isa<FloatType>(compute))
    start = arith::ConstantOp::create(
        b, l.loc, b.getFloatAttr(compute, APFloat::getInf(cast<FloatType>(compute).getFloatSemantics(), true)));
  else
    start = isMax ? padding : l.scalar(compute, 0);
  Value reduced = l.generic(
      {input, window}, l.filled(l.dims(getResult()), start),
      {map(inMap), map(windowMap), map(outMap)}, kinds,
      [&](OpBuilder &at, Location loc, ValueRange args) -> Value {
        ScalarMath m{at, loc, isUnsigned};
        Value x = toCompute(at, loc, args[0], element);
        if (isMax)
          return m.maximum(args[2], x);
        return m.add(args[2], getKind() == ReduceKind::sum_square ? m.multiply(x, x) : x);
      });
  if (getKind() != ReduceKind::mean)
    return SmallVector<Value>{l.toStored(reduced, getResult())};
  // Divide by how many elements (and perhaps padding) each window covered.
  SmallVector<Value> inputSizes;
  for (int64_t axis = 0; axis < spatial; ++axis)
    inputSizes.push_back(l.dimValue(getInput(), spatialAxis() + axis));
  Value result = l.map({reduced}, getResult(), [&](OpBuilder &at, Location loc, ValueRange args) {
    ScalarMath m{at, loc, false};
    auto index = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(at, loc, v); };
    Value count = index(1);
    for (int64_t axis = 0; axis < spatial; ++axis) {
      int64_t before = getPads()[axis], after = getPads()[axis + spatial];
      int64_t dilation = getDilations()[axis];
      Value begin = arith::MulIOp::create(at, loc, linalg::IndexOp::create(at, loc, spatialAxis() + axis),
                                          index(getStrides()[axis])); // in the padded input
      Value first = index(getCountIncludePad() ? 0 : before);
      Value past = arith::AddIOp::create(at, loc, inputSizes[axis],
                                         index(before + (getCountIncludePad() ? after : 0)));
      // Taps k with first <= begin + k*dilation < past.
      Value room = arith::SubIOp::create(at, loc, past, begin);
      Value upper = arith::MinSIOp::create(at, loc, index(getKernel()[axis]),
                                           arith::CeilDivSIOp::create(at, loc, room, index(dilation)));
      Value lower = arith::MaxSIOp::create(
          at, loc, index(0),
          arith::CeilDivSIOp::create(at, loc, arith::SubIOp::create(at, loc, first, begin), index(dilation)));
      Value taps = arith::MaxSIOp::create(at, loc, arith::SubIOp::create(at, loc, upper, lower), index(0));
      count = arith::MulIOp::create(at, loc, count, taps);
    }
    Value asInteger = arith::IndexCastOp::create(at, loc, at.getI64Type(), count);
    Value divisor = arith::SIToFPOp::create(at, loc, compute, asInteger);
    return toStorage(at, loc, m.divide(args[0], divisor), element);
  });
  return SmallVector<Value>{result};
}

bool PoolOp::prefersChannelsLast() { return !getChannelsLast() && spatialRank() <= 2; }

FailureOr<SmallVector<Value>> PoolOp::permuteLayout(OpBuilder &b, ValueRange operands,
                                                    ArrayRef<int64_t> perm) {
  int64_t rank = perm.size();
  bool isToLast = !getChannelsLast() && perm[rank - 1] == 1;
  for (int64_t axis = 1; axis + 1 < rank; ++axis)
    isToLast &= perm[axis] == axis + 1;
  if (!isToLast)
    return failure();
  auto pool = make<PoolOp>(b, getLoc(), operands[0], getKindAttr(), getKernelAttr(),
                           getStridesAttr(), getDilationsAttr(), getPadsAttr(),
                           getCeilModeAttr(), getCountIncludePadAttr(), b.getUnitAttr());
  if (!pool)
    return failure();
  return SmallVector<Value>{pool};
}

} // namespace dlc::dl
