// Shape and loop of interpolation.

#include "dialects/dl/ops/Resample.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/IndexMath.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ScalarMath.h"
#include "dialects/dl/SizeMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Resample.cpp.inc"

namespace dlc::dl {

void registerResampleOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Resample.cpp.inc"
      >();
}

LogicalResult InterpolateOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), positions = c.of(getPositions());
  TensorInfo weights = c.of(getWeights());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= input.rank() || !isa<FloatType>(input.element)) // C1
    return c.error() << "axis " << axis << " does not fit rank " << input.rank()
                     << " of type " << input.element;
  auto taps = positions.rank() == 2 ? constantSize(positions.dims[1]) : std::nullopt;
  if (!positions.element.isInteger(64) || !taps || *taps < 1) // C2
    return c.error() << "positions must be an i64 matrix with a known number of columns";
  if (weights.rank() != 2 || weights.element != computeType(input.element)) // C3
    return c.error() << "weights must be a matrix of type " << computeType(input.element);
  for (int64_t i = 0; i < 2; ++i)
    if (failed(c.equal(positions.dims[i], weights.dims[i], "size of the tables")))
      return failure();
  Shape dims = input.dims;
  dims[axis] = positions.dims[0];
  c.addResult(dims, input.element);
  return success();
}

SmallVector<IndexRange> InterpolateOp::indexRanges(InferContext &c) {
  return {{getPositions(), c.constant(0), c.of(getInput()).dims[getAxis()]}};
}

FailureOr<SmallVector<Value>>
InterpolateOp::permuteLayout(OpBuilder &b, ValueRange operands, ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (type.getRank() != int64_t(perm.size()) || perm.size() == 2)
    return failure(); // Tables of rank 2 would be taken for images.
  int64_t axis = llvm::find(perm, int64_t(getAxis())) - perm.begin();
  auto op = make<InterpolateOp>(b, getLoc(), operands[0], operands[1], operands[2],
                                b.getI64IntegerAttr(axis));
  return SmallVector<Value>{op.getResult()};
}

/// Taps up to this number are written out, more are a loop.
static constexpr int64_t kUnrolledTaps = 8;

FailureOr<SmallVector<Value>> InterpolateOp::lowerToLinalg(LinalgLowering &l) {
  int64_t axis = getAxis();
  int64_t taps = cast<RankedTensorType>(getPositions().getType()).getDimSize(1);
  Type element = l.element(getInput());
  Value size = l.dimValue(getInput(), axis);
  auto weighted = [&](IndexMath &m, ArrayRef<Value> at, Value tap) -> Value {
    ScalarMath s{m.b, m.loc, false};
    Value entry[] = {at[axis], tap};
    SmallVector<Value> source(at);
    Value position = m.fetch(l.operand(getPositions()), entry);
    source[axis] = m.clamp(m.fromElement(position, m.b.getI64Type()), size);
    Value x = toCompute(m.b, m.loc, m.fetch(l.operand(getInput()), source), element);
    return s.multiply(x, m.fetch(l.operand(getWeights()), entry));
  };
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &m, ArrayRef<Value> at, ValueRange) {
        ScalarMath s{m.b, m.loc, false};
        Value sum = weighted(m, at, m.constant(0));
        if (taps <= kUnrolledTaps) {
          for (int64_t t = 1; t < taps; ++t)
            sum = s.add(sum, weighted(m, at, m.constant(t)));
          return toStorage(m.b, m.loc, sum, element);
        }
        auto loop = scf::ForOp::create(
            m.b, m.loc, m.constant(1), m.constant(taps), m.constant(1), sum,
            [&](OpBuilder &b, Location loc, Value t, ValueRange carried) {
              IndexMath inner{b, loc};
              ScalarMath add{b, loc, false};
              Value next = add.add(carried[0], weighted(inner, at, t));
              scf::YieldOp::create(b, loc, next);
            });
        return toStorage(m.b, m.loc, loop.getResult(0), element);
      })};
}

// Every tap gives its weight times the result's gradient back to its position.
FailureOr<SmallVector<Value>> InterpolateOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  int64_t rank = cast<RankedTensorType>(getInput().getType()).getRank(), axis = getAxis();
  Type element = elementOf(getInput()), wide = elementOf(getWeights());
  // With the axis of the taps after the result's axis, both tables broadcast.
  SmallVector<Value> tableSizes(rank + 1, g.indices({1})), gradSizes;
  tableSizes[axis] = g.sizesOf(getPositions(), 0);
  tableSizes[axis + 1] = g.sizesOf(getPositions(), 1);
  for (int64_t i = 0; i < rank; ++i) {
    gradSizes.push_back(g.sizesOf(grads[0], i));
    if (i == axis)
      gradSizes.push_back(g.indices({1}));
  }
  Value dy = g.reshape(g.cast(grads[0], wide), g.concat(gradSizes, 0));
  Value weights = g.reshape(getWeights(), g.concat(tableSizes, 0));
  Value updates = g.cast(g.mul(dy, weights), element);
  Value dx = gatherGradient(g, updates, getPositions(), axis, g.shapeOf(getInput()));
  Value taps = g.make<GatherOp>(getInput(), getPositions(), g.b.getI64IntegerAttr(axis));
  SmallVector<int64_t> others;
  for (int64_t i = 0; i <= rank; ++i)
    if (i != axis && i != axis + 1)
      others.push_back(i);
  Value dw = g.sum(g.mul(g.cast(taps, wide), dy), others, false);
  return SmallVector<Value>{dx, Value(), dw};
}

} // namespace dlc::dl
