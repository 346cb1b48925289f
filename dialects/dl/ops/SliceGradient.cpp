// The inverse of cutting, and the gradients of ops that cut, pad and turn around.

#include "dialects/dl/ops/SliceGradient.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/IndexMath.h"
#include "dialects/dl/SizeMath.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Slice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/SliceGradient.cpp.inc"

namespace dlc::dl {

void registerSliceGradientOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/SliceGradient.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// unslice
//===----------------------------------------------------------------------===//

LogicalResult UnsliceOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), bounds = c.of(getBounds());
  int64_t rank = input.rank();
  if (!bounds.element.isInteger(64) || bounds.rank() != 2 ||
      constantSize(bounds.dims[0]) != 3 || constantSize(bounds.dims[1]) != rank) // C1
    return c.error() << "bounds must be 3 x " << rank << " elements of type i64";
  auto length = shapeOperandLength(c, c.of(getShape()), "shape");
  if (failed(length))
    return failure();
  if (*length != rank) // C2
    return c.error() << "shape has " << *length << " elements, expects " << rank;
  Shape dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    dims.push_back(c.element(getShape(), axis));
    if (failed(c.equal(input.dims[axis], c.element(getBounds(), rank + axis),
                       "size of input along axis " + Twine(axis)))) // C3
      return failure();
  }
  c.addResult(dims, input.element);
  return success();
}

// Every element of the result looks for its source.
FailureOr<SmallVector<Value>> UnsliceOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  int64_t rank = l.rank(getInput());
  Type stored = l.type(getInput()).getElementType();
  Value zero = l.scalar(stored, 0), input = l.operand(getInput());
  if (llvm::is_contained(cast<RankedTensorType>(getInput().getType()).getShape(), 0))
    return SmallVector<Value>{l.filled(getResult(), zero)};
  auto known = constantElements(getBounds());
  SmallVector<Value> starts, steps, sizes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    auto at = [&](int64_t row) {
      if (known)
        return outer.constant((*known)[row * rank + axis]);
      Value element = outer.fetch(l.operand(getBounds()), {outer.constant(row), outer.constant(axis)});
      return outer.fromElement(element, l.b.getI64Type());
    };
    starts.push_back(at(0));
    bool isUnit = known && (*known)[2 * rank + axis] == 1;
    Value step = isUnit ? Value() : at(2); // 0 only where there is one element
    steps.push_back(step ? outer.select(outer.equal(step, outer.constant(0)), outer.constant(1), step) : step);
    sizes.push_back(l.dimValue(getInput(), axis));
  }
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &m, ArrayRef<Value> indices, ValueRange) {
        SmallVector<Value> source;
        Value isInside;
        for (int64_t axis = 0; axis < rank; ++axis) {
          Value distance = m.sub(indices[axis], starts[axis]);
          Value i = steps[axis] ? m.div(distance, steps[axis]) : distance;
          Value inside = m.equal(m.clamp(i, sizes[axis]), i);
          if (steps[axis])
            inside = m.both(inside, m.equal(m.mul(i, steps[axis]), distance));
          isInside = isInside ? m.both(isInside, inside) : inside;
          source.push_back(m.clamp(i, sizes[axis]));
        }
        Value element = m.fetch(input, source);
        return isInside ? m.select(isInside, element, zero) : element;
      })};
}

FailureOr<SmallVector<Value>> UnsliceOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return SmallVector<Value>{g.make<SliceOp>(grads[0], getBounds()), Value(), Value()};
}

//===----------------------------------------------------------------------===//
// Gradients of slice, pad and reverse_sequence
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> SliceOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return SmallVector<Value>{g.make<UnsliceOp>(grads[0], getBounds(), g.shapeOf(getInput())), Value()};
}

namespace {

/// Pads that cut what padding added, and add (zeros) what it cut.
Value unpad(GradientBuilder &g, PadOp op, Value grad) {
  return g.make<PadOp>(grad, g.neg(op.getPads()), g.zero(grad), PadMode::constant);
}

/// Which element of an axis stands at each of its padded positions.
Value paddedPositions(GradientBuilder &g, PadOp op, int64_t axis) {
  int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
  Value pads = g.make<GatherOp>(op.getPads(), g.indices({axis, rank + axis}), g.b.getI64IntegerAttr(0));
  Value positions = g.iota(g.sizesOf(op.getInput(), axis));
  return g.make<PadOp>(positions, pads, g.zero(positions), op.getMode());
}

} // namespace

FailureOr<SmallVector<Value>> PadOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value dx = grads[0], dv;
  int64_t rank = cast<RankedTensorType>(getInput().getType()).getRank();
  if (getMode() == PadMode::constant) {
    Value ones = g.expandLike(g.constant(dx, 1), getInput());
    Value isOwn = g.make<PadOp>(ones, getPads(), g.zero(dx), PadMode::constant);
    Value padding = g.select(g.isPositive(isOwn), g.zero(dx), dx);
    dv = g.sum(padding, llvm::to_vector(llvm::seq<int64_t>(0, rank)), false);
    return SmallVector<Value>{unpad(g, *this, dx), Value(), dv};
  }
  // One axis after the other: each is a gather of its own elements.
  auto pads = constantElements(getPads());
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (pads && (*pads)[axis] == 0 && (*pads)[rank + axis] == 0)
      continue;
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < rank; ++i)
      sizes.push_back(g.sizesOf(i == axis ? getInput() : dx, i));
    dx = gatherGradient(g, dx, paddedPositions(g, *this, axis), axis, g.concat(sizes, 0));
  }
  return SmallVector<Value>{dx, Value(), Value()};
}

FailureOr<SmallVector<Value>> ReverseSequenceOp::buildGradient(GradientBuilder &g,
                                                               ArrayRef<Value> grads) {
  Value dx = g.make<ReverseSequenceOp>(grads[0], getLengths(), getTimeAxisAttr(), getBatchAxisAttr());
  return SmallVector<Value>{dx, Value()};
}

} // namespace dlc::dl
