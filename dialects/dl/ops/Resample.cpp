// Shape and loop of interpolation.

#include "dialects/dl/ops/Resample.h"

#include "dialects/dl/IndexMath.h"
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

} // namespace dlc::dl
