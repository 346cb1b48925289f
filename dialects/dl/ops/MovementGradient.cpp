// The gradients of ops that rearrange or repeat elements.

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace dlc::dl {

FailureOr<SmallVector<Value>> ReshapeOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return SmallVector<Value>{g.reshapeLike(grads[0], getInput()), Value()};
}

FailureOr<SmallVector<Value>> ExpandOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return SmallVector<Value>{g.sumTo(grads[0], getInput()), Value()};
}

FailureOr<SmallVector<Value>> TransposeOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return SmallVector<Value>{g.transpose(grads[0], invertPermutationVector(getPermutation()))};
}

FailureOr<SmallVector<Value>> ConcatOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  SmallVector<Value> parts;
  Value start = g.indices({0});
  for (Value input : getInputs()) {
    Value size = g.sizesOf(input, getAxis());
    parts.push_back(g.slice(grads[0], getAxis(), start, size));
    start = g.add(start, size);
  }
  return parts;
}

// Axis k of the result is repeats[k] copies of axis k: their sum.
FailureOr<SmallVector<Value>> TileOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  int64_t rank = cast<RankedTensorType>(getInput().getType()).getRank();
  SmallVector<int64_t> order, copies;
  for (int64_t axis = 0; axis < rank; ++axis) {
    order.append({axis, rank + axis});
    copies.push_back(2 * axis);
  }
  Value sizes = g.concat({getRepeats(), g.shapeOf(getInput())}, 0);
  Value split = g.make<GatherOp>(sizes, g.indices(order), g.b.getI64IntegerAttr(0));
  return SmallVector<Value>{g.sum(g.reshape(grads[0], split), copies, false), Value()};
}

} // namespace dlc::dl
