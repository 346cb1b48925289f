// What the gradient of pooling means: shape, lowering and layout.

#include "dialects/dl/ops/PoolGradient.h"

#include "dialects/dl/IndexMath.h"
#include "dialects/dl/SizeMath.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Pool.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/PoolGradient.cpp.inc"

namespace dlc::dl {

void registerPoolGradientOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/PoolGradient.cpp.inc"
      >();
}

LogicalResult PoolGradientOp::inferTypes(InferContext &c) {
  bool isMax = getKind() == ReduceKind::max;
  if ((!isMax && getKind() != ReduceKind::mean && getKind() != ReduceKind::sum) ||
      isMax != bool(getInput())) // C1
    return c.error() << "is of kind " << stringifyReduceKind(getKind())
                     << (getInput() ? " with" : " without") << " an input";
  TensorInfo grad = c.of(getGrad());
  auto length = shapeOperandLength(c, c.of(getShape()), "shape");
  if (failed(length))
    return failure();
  if (*length != grad.rank()) // C2
    return c.error() << "shape has " << *length << " elements, expects " << grad.rank();
  Shape dims;
  for (int64_t axis = 0; axis < grad.rank(); ++axis)
    dims.push_back(c.element(getShape(), axis));
  if (getInput()) {
    TensorInfo input = c.of(getInput());
    if (input.rank() != grad.rank() || input.element != grad.element)
      return c.error() << "input has rank " << input.rank() << " and type " << input.element
                       << ", grad " << grad.rank() << " and " << grad.element;
    for (auto [dim, size] : llvm::zip(dims, input.dims)) {
      auto agreed = c.equal(size, dim, "size of input");
      if (failed(agreed))
        return failure();
      dim = *agreed;
    }
  }
  auto pooled = PoolGeometry::of(*this).inferDims(c, dims);
  if (failed(pooled))
    return failure();
  for (auto [axis, size] : llvm::enumerate(*pooled)) // C3
    if (failed(c.equal(grad.dims[axis], size, "size of grad along axis " + Twine(axis))))
      return failure();
  c.addResult(dims, grad.element);
  return success();
}

namespace {

/// The number of each window's first largest tap, as i64.
Value chosenTaps(PoolGradientOp op, LinalgLowering &l, const PoolGeometry &geometry) {
  Type element = l.element(op.getInput()), compute = computeType(element);
  Value input = geometry.pad(l, l.operand(op.getInput()), lowestStored(l, element));
  PoolGeometry::Loops loops = geometry.loops(l);
  int64_t rank = l.rank(op.getGrad());
  Value best = l.filled(l.dims(op.getGrad()), lowestStored(l, compute));
  Value chosen = l.filled(l.dims(op.getGrad()), l.scalar(l.b.getI64Type(), 0));
  auto search = linalg::GenericOp::create(
      l.b, l.loc, TypeRange{best.getType(), chosen.getType()}, ValueRange{input, loops.taps},
      ValueRange{best, chosen},
      ArrayRef<AffineMap>{loops.input, loops.window, loops.output, loops.output}, loops.kinds,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ScalarMath m{b, loc, false};
        IndexMath at{b, loc};
        Value x = toCompute(b, loc, args[0], element), old = args[2];
        Value tap = at.constant(0);
        for (auto [axis, size] : llvm::enumerate(geometry.kernel))
          tap = at.add(at.mul(tap, at.constant(size)), linalg::IndexOp::create(b, loc, rank + axis));
        Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
        Value oldIsNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, old, old);
        Value better = arith::OrIOp::create(b, loc, isNan, m.compare(Comparison::gt, x, old));
        better = arith::AndIOp::create(b, loc, better, oldIsNumber);
        linalg::YieldOp::create(b, loc, ValueRange{m.select(better, x, old),
                                                   m.select(better, at.toInteger(tap, b.getI64Type()), args[3])});
      });
  return search.getResult(1);
}

/// grad over the number of elements that each window counted.
Value dividedGrad(PoolGradientOp op, LinalgLowering &l, const PoolGeometry &geometry) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < geometry.spatialRank(); ++axis)
    sizes.push_back(l.dimValue(op.getResult(), geometry.spatialAxis() + axis));
  Type element = l.element(op.getGrad());
  return l.map({l.operand(op.getGrad())}, op.getGrad(), [&](OpBuilder &b, Location loc, ValueRange x) {
    ScalarMath m{b, loc, false};
    Value count = arith::SIToFPOp::create(b, loc, computeType(element),
                                          geometry.countCovered(b, loc, sizes));
    return toStorage(b, loc, m.divide(toCompute(b, loc, x[0], element), count), element);
  });
}

} // namespace

// Every element asks the windows that cover it: no two threads write one place.
FailureOr<SmallVector<Value>> PoolGradientOp::lowerToLinalg(LinalgLowering &l) {
  PoolGeometry geometry = PoolGeometry::of(*this);
  int64_t rank = l.rank(getGrad()), first = geometry.spatialAxis();
  Type element = l.element(getGrad());
  bool isMax = getKind() == ReduceKind::max;
  Value chosen = isMax ? chosenTaps(*this, l, geometry) : Value();
  Value grad = getKind() == ReduceKind::mean ? dividedGrad(*this, l, geometry) : l.operand(getGrad());
  SmallVector<Value> windows;
  for (int64_t axis = 0; axis < geometry.spatialRank(); ++axis)
    windows.push_back(l.dimValue(getGrad(), first + axis));
  PoolGeometry::Loops loops = geometry.loops(l);
  auto body = [&](ScalarMath &m, ValueRange) -> Value {
    IndexMath i{m.b, m.loc};
    SmallVector<Value> at;
    for (int64_t axis = 0; axis < rank; ++axis)
      at.push_back(linalg::IndexOp::create(m.b, m.loc, axis));
    Value covers, tap = i.constant(0);
    for (int64_t axis = 0; axis < geometry.spatialRank(); ++axis) {
      // The window that has this element at tap k starts at a multiple of the stride.
      Value k = linalg::IndexOp::create(m.b, m.loc, rank + axis), stride = i.constant(geometry.strides[axis]);
      Value begin = i.sub(i.add(at[first + axis], i.constant(geometry.pads[axis])),
                          i.mul(k, i.constant(geometry.dilations[axis])));
      Value window = i.div(begin, stride);
      Value exists = i.both(i.equal(i.mul(window, stride), begin),
                            i.both(i.less(i.constant(-1), begin), i.less(window, windows[axis])));
      covers = covers ? i.both(covers, exists) : exists;
      at[first + axis] = i.select(exists, window, i.constant(0));
      tap = i.add(i.mul(tap, i.constant(geometry.kernel[axis])), k);
    }
    if (isMax)
      covers = i.both(covers, i.equal(i.fromElement(i.fetch(chosen, at), m.b.getI64Type()), tap));
    Value dy = toCompute(m.b, m.loc, i.fetch(grad, at), element);
    return m.select(covers, dy, m.constant(dy.getType(), 0));
  };
  return l.accumulate({loops.taps}, getResult(), {loops.window, loops.output}, loops.kinds, body);
}

bool PoolGradientOp::prefersChannelsLast() { return !getChannelsLast() && getKernel().size() <= 2; }

bool PoolGradientOp::permutesOperand(unsigned operand) { return operand != 1; }

FailureOr<SmallVector<Value>> PoolGradientOp::permuteLayout(OpBuilder &b, ValueRange operands,
                                                            ArrayRef<int64_t> perm) {
  if (getChannelsLast() || !movesChannelsLast(perm))
    return failure();
  int64_t rank = perm.size();
  auto order = RankedTensorType::get({rank}, b.getI64Type());
  Value axes = ConstantOp::create(b, getLoc(), order, DenseElementsAttr::get(order, perm));
  Value shape = make<GatherOp>(b, getLoc(), operands[1], axes, b.getI64IntegerAttr(0));
  auto op = make<PoolGradientOp>(b, getLoc(), operands[0], shape, operands.size() > 2 ? operands[2] : Value(),
                                 getKindAttr(), getKernelAttr(), getStridesAttr(), getDilationsAttr(),
                                 getPadsAttr(), getCeilModeAttr(), getCountIncludePadAttr(), b.getUnitAttr());
  if (!op)
    return failure();
  return SmallVector<Value>{op};
}

} // namespace dlc::dl
