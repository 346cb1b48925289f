// What pooling means: shape, lowering and layout.

#include "dialects/dl/ops/Pool.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ops/PoolGradient.h"

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

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {

/// The number of windows along an axis of a known size.
int64_t countWindows(const PoolGeometry &p, int64_t axis, int64_t in) {
  int64_t low = p.pads[axis], high = p.pads[axis + p.spatialRank()];
  int64_t stride = p.strides[axis], room = in + low + high - p.windowSize(axis);
  if (!p.ceilMode)
    return room / stride + 1;
  int64_t count = (room + stride - 1) / stride + 1;
  return (count - 1) * stride >= in + low ? count - 1 : count;
}

} // namespace

FailureOr<Shape> PoolGeometry::inferDims(InferContext &c, ArrayRef<AffineExpr> input) const {
  size_t spatial = spatialRank(), rank = input.size();
  if (rank < 3 || rank > 5 || rank != spatial + 2 || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial) { // C1
    c.error() << "has " << spatial << " kernel sizes, " << strides.size() << " strides, "
              << dilations.size() << " dilations and " << pads.size()
              << " pads for an input of rank " << rank;
    return failure();
  }
  auto positive = [](int64_t v) { return v > 0 && v < (int64_t(1) << 31); };
  if (!llvm::all_of(kernel, positive) || !llvm::all_of(strides, positive) ||
      !llvm::all_of(dilations, positive)) { // C1
    c.error() << "kernel sizes, strides and dilations must be positive";
    return failure();
  }
  Shape dims(input);
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t low = pads[axis], high = pads[axis + spatial], window = windowSize(axis);
    if (low < 0 || high < 0 || low >= window || high >= window) { // C2
      c.error() << "pads " << low << " and " << high << " must be smaller than the window of " << window;
      return failure();
    }
    AffineExpr &dim = dims[spatialAxis() + axis];
    if (auto size = constantSize(dim)) {
      if (*size + low + high < window) { // C3
        c.error() << "window of " << window << " is larger than the padded input of "
                  << *size + low + high;
        return failure();
      }
      dim = c.constant(countWindows(*this, axis, *size));
      continue;
    }
    AffineExpr room = dim + (low + high - window);
    int64_t stride = strides[axis];
    // In ceil mode a last window that starts past the input is dropped. The last
    // start is at most in + low + high - window + stride - 1, so none does while
    // high + stride <= window; beyond that it depends on the size.
    if (ceilMode && high + stride > window) {
      c.error() << "unsupported: ceil_mode with the stride " << stride << " and a window of "
                << window << " on an axis of symbolic size";
      return failure();
    }
    dim = (ceilMode ? room.ceilDiv(stride) : room.floorDiv(stride)) + 1;
  }
  return dims;
}

PoolGeometry::Loops PoolGeometry::loops(LinalgLowering &l) const {
  OpBuilder &b = l.b;
  int64_t spatial = spatialRank(), rank = spatial + 2;
  SmallVector<AffineExpr> in, out, window;
  for (int64_t axis = 0; axis < rank; ++axis)
    out.push_back(b.getAffineDimExpr(axis));
  in = out;
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    AffineExpr k = b.getAffineDimExpr(rank + axis);
    in[spatialAxis() + axis] = out[spatialAxis() + axis] * strides[axis] + k * dilations[axis];
    window.push_back(k);
    sizes.push_back(b.getIndexAttr(kernel[axis]));
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(rank + spatial, 0, exprs, b.getContext());
  };
  Loops loops{map(in), map(window), map(out), {}, l.empty(sizes, b.getI8Type())};
  loops.kinds.assign(rank, utils::IteratorType::parallel);
  loops.kinds.append(spatial, utils::IteratorType::reduction);
  return loops;
}

Value PoolGeometry::pad(LinalgLowering &l, Value input, Value padding) const {
  OpBuilder &b = l.b;
  int64_t spatial = spatialRank();
  SmallVector<OpFoldResult> low(spatial + 2, b.getIndexAttr(0)), high = low;
  bool isPadded = false;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    int64_t at = spatialAxis() + axis;
    low[at] = b.getIndexAttr(pads[axis]);
    high[at] = b.getIndexAttr(pads[axis + spatial] + (ceilMode ? strides[axis] - 1 : 0));
    isPadded |= pads[axis] != 0 || !isConstantIntValue(high[at], 0);
  }
  return isPadded ? tensor::PadOp::create(b, l.loc, Type(), input, low, high, padding).getResult()
                  : input;
}

Value PoolGeometry::countCovered(OpBuilder &b, Location loc, ArrayRef<Value> sizes) const {
  auto index = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
  Value count = index(1);
  for (int64_t axis = 0; axis < spatialRank(); ++axis) {
    int64_t before = pads[axis], after = pads[axis + spatialRank()], dilation = dilations[axis];
    Value begin = arith::MulIOp::create(b, loc, linalg::IndexOp::create(b, loc, spatialAxis() + axis),
                                        index(strides[axis])); // in the padded input
    Value first = index(countIncludePad ? 0 : before);
    Value past = arith::AddIOp::create(b, loc, sizes[axis], index(before + (countIncludePad ? after : 0)));
    // Taps k with first <= begin + k*dilation < past.
    Value room = arith::SubIOp::create(b, loc, past, begin);
    Value upper = arith::MinSIOp::create(b, loc, index(kernel[axis]),
                                         arith::CeilDivSIOp::create(b, loc, room, index(dilation)));
    Value lower = arith::MaxSIOp::create(
        b, loc, index(0),
        arith::CeilDivSIOp::create(b, loc, arith::SubIOp::create(b, loc, first, begin), index(dilation)));
    Value taps = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), index(0));
    count = arith::MulIOp::create(b, loc, count, taps);
  }
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
}

Value lowestStored(LinalgLowering &l, Type element) {
  Type stored = storageType(element);
  if (auto type = dyn_cast<FloatType>(stored))
    return arith::ConstantOp::create(
        l.b, l.loc, l.b.getFloatAttr(stored, APFloat::getInf(type.getFloatSemantics(), true)));
  unsigned width = stored.getIntOrFloatBitWidth();
  APInt lowest = element.isUnsignedInteger() ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  return arith::ConstantOp::create(l.b, l.loc, l.b.getIntegerAttr(stored, lowest));
}

//===----------------------------------------------------------------------===//
// dl.pool
//===----------------------------------------------------------------------===//

LogicalResult PoolOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  auto dims = PoolGeometry::of(*this).inferDims(c, input.dims);
  if (failed(dims))
    return failure();
  c.addResult(*dims, input.element);
  return success();
}

FailureOr<SmallVector<Value>> PoolOp::lowerToLinalg(LinalgLowering &l) {
  PoolGeometry geometry = PoolGeometry::of(*this);
  Type element = l.element(getInput()), compute = computeType(element);
  bool isMax = getKind() == ReduceKind::max, isUnsigned = element.isUnsignedInteger();
  Type stored = l.type(getInput()).getElementType();
  Value padding = isMax ? lowestStored(l, element) : l.scalar(stored, 0);
  Value input = geometry.pad(l, l.operand(getInput()), padding);
  PoolGeometry::Loops loops = geometry.loops(l);
  Value start = !isMax               ? l.scalar(compute, 0)
                : compute == stored ? padding
                                    : lowestStored(l, compute);
  Value reduced = l.generic(
      {input, loops.taps}, l.filled(l.dims(getResult()), start),
      {loops.input, loops.window, loops.output}, loops.kinds,
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
  for (int64_t axis = 0; axis < spatialRank(); ++axis)
    inputSizes.push_back(l.dimValue(getInput(), spatialAxis() + axis));
  Value result = l.map({reduced}, getResult(), [&](OpBuilder &at, Location loc, ValueRange args) {
    ScalarMath m{at, loc, false};
    Value count = geometry.countCovered(at, loc, inputSizes);
    Value divisor = arith::SIToFPOp::create(at, loc, compute, count);
    return toStorage(at, loc, m.divide(args[0], divisor), element);
  });
  return SmallVector<Value>{result};
}

FailureOr<SmallVector<Value>> PoolOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  if (getChannelsLast())
    return g.refuse("channels-last is made by the layout passes, after differentiation");
  Value x = getInput(), dy = grads[0];
  bool isSquares = getKind() == ReduceKind::sum_square, isMax = getKind() == ReduceKind::max;
  auto kind = ReduceKindAttr::get(getContext(), isSquares ? ReduceKind::sum : getKind());
  auto spread = make<PoolGradientOp>(g.b, g.loc, dy, g.shapeOf(x), isMax ? x : Value(), kind,
                                     getKernelAttr(), getStridesAttr(), getDilationsAttr(), getPadsAttr(),
                                     getCeilModeAttr(), getCountIncludePadAttr(), UnitAttr());
  if (!spread)
    return failure();
  return SmallVector<Value>{isSquares ? g.mul(g.scale(x, 2), spread) : spread};
}

bool PoolOp::prefersChannelsLast() { return !getChannelsLast() && spatialRank() <= 2; }

FailureOr<SmallVector<Value>> PoolOp::permuteLayout(OpBuilder &b, ValueRange operands,
                                                    ArrayRef<int64_t> perm) {
  if (getChannelsLast() || !movesChannelsLast(perm))
    return failure();
  auto pool = make<PoolOp>(b, getLoc(), operands[0], getKindAttr(), getKernelAttr(),
                           getStridesAttr(), getDilationsAttr(), getPadsAttr(),
                           getCeilModeAttr(), getCountIncludePadAttr(), b.getUnitAttr());
  if (!pool)
    return failure();
  return SmallVector<Value>{pool};
}

} // namespace dlc::dl
