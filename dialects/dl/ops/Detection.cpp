// Box selection: shapes and loops.

#include "dialects/dl/ops/Detection.h"

#include "dialects/dl/IndexMath.h"
#include "dialects/dl/ScalarMath.h"
#include "dialects/dl/SizeMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Detection.cpp.inc"

namespace dlc::dl {

void registerDetectionOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Detection.cpp.inc"
      >();
}

LogicalResult NonMaxSuppressionOp::inferTypes(InferContext &c) {
  TensorInfo boxes = c.of(getBoxes()), scores = c.of(getScores()), limit = c.of(getLimit());
  if (boxes.rank() != 3 || scores.rank() != 3 || !boxes.element.isF32() ||
      !scores.element.isF32() || constantSize(boxes.dims[2]) != 4) // C1
    return c.error() << "boxes must be B x N x 4 and scores B x C x N of type f32";
  if (failed(c.equal(boxes.dims[0], scores.dims[0], "batch size")) ||
      failed(c.equal(boxes.dims[1], scores.dims[2], "number of boxes")))
    return failure();
  if (trackableCount(limit.dims) != 1 || !limit.element.isInteger(64)) // C2
    return c.error() << "limit must be an i64 vector of one element";
  for (Value threshold : {getOverlapThreshold(), getScoreThreshold()})
    if (TensorInfo info = c.of(threshold); info.rank() != 0 || !info.element.isF32())
      return c.error() << "thresholds must be f32 scalars";
  Type i64 = IntegerType::get(c.context(), 64);
  c.addResult({product(scores.dims, c.context()), c.constant(3)}, i64);
  c.addResult({c.constant(1)}, i64);
  return success();
}

namespace {

/// The loops of one lowering; `b` moves with the loop being built.
class BoxLoops {
public:
  BoxLoops(NonMaxSuppressionOp op, LinalgLowering &l)
      : op(op), l(l), boxes(l.operand(op.getBoxes())), scores(l.operand(op.getScores())) {}

  SmallVector<Value> build();

private:
  struct Box {
    Value low[2], high[2], area;
  };
  Box load(IndexMath &m, Value batch, Value i);
  Value overlaps(IndexMath &m, const Box &x, const Box &y);
  Value findNext(OpBuilder &b, Value batch, Value category, Value last);
  Value isSuppressed(OpBuilder &b, Value batch, Value i, Value rows, Value begin, Value end);
  scf::ValueVector selectOfClass(OpBuilder &b, ValueRange at, ValueRange carried);

  NonMaxSuppressionOp op;
  LinalgLowering &l;
  Value boxes, scores, numBoxes, limit, overlap, threshold, zero, one, none, no;
};

BoxLoops::Box BoxLoops::load(IndexMath &m, Value batch, Value i) {
  ScalarMath s{m.b, m.loc, false};
  Value v[4];
  for (int64_t k = 0; k < 4; ++k)
    v[k] = m.fetch(boxes, {batch, i, m.constant(k)});
  Box box;
  for (int k = 0; k < 2; ++k) {
    if (op.getIsCentered()) {
      Value half = s.multiply(v[k + 2], s.constant(v[k].getType(), 0.5));
      box.low[k] = s.subtract(v[k], half);
      box.high[k] = s.add(v[k], half);
    } else {
      box.low[k] = s.minimum(v[k], v[k + 2]);
      box.high[k] = s.maximum(v[k], v[k + 2]);
    }
  }
  box.area = s.multiply(s.subtract(box.high[0], box.low[0]), s.subtract(box.high[1], box.low[1]));
  return box;
}

Value BoxLoops::overlaps(IndexMath &m, const Box &x, const Box &y) {
  ScalarMath s{m.b, m.loc, false};
  Value sides[2], nothing = s.constant(x.area.getType(), 0);
  for (int k = 0; k < 2; ++k) {
    Value side = s.subtract(s.minimum(x.high[k], y.high[k]), s.maximum(x.low[k], y.low[k]));
    sides[k] = s.maximum(side, nothing);
  }
  Value common = s.multiply(sides[0], sides[1]);
  Value all = s.subtract(s.add(x.area, y.area), common);
  Value isMore = s.compare(Comparison::gt, s.divide(common, all), overlap);
  // Empty boxes overlap nothing (and 0 / 0 is no number).
  return m.both(isMore, s.compare(Comparison::gt, common, nothing));
}

/// The box that follows `last` (-1: the first) in the order of scores; -1: none.
Value BoxLoops::findNext(OpBuilder &b, Value batch, Value category, Value last) {
  IndexMath outer{b, l.loc};
  Value safe = outer.max(last, zero);
  Value lastScore = outer.fetch(scores, {batch, category, safe});
  auto loop = scf::ForOp::create(
      b, l.loc, zero, numBoxes, one, none, [&](OpBuilder &b, Location loc, Value i, ValueRange best) {
        IndexMath m{b, loc};
        ScalarMath s{b, loc, false};
        Value score = m.fetch(scores, {batch, category, i});
        Value bestScore = m.fetch(scores, {batch, category, m.max(best[0], zero)});
        auto either = [&](Value p, Value q) -> Value { return arith::OrIOp::create(b, loc, p, q); };
        Value isLater = either(s.compare(Comparison::lt, score, lastScore),
                               m.both(s.compare(Comparison::eq, score, lastScore), m.less(last, i)));
        isLater = either(isLater, m.less(last, zero));
        Value isBetter = either(s.compare(Comparison::gt, score, bestScore), m.less(best[0], zero));
        Value isEnough = s.compare(Comparison::gt, score, threshold);
        Value take = m.both(isEnough, m.both(isLater, isBetter));
        scf::YieldOp::create(b, loc, m.select(take, i, best[0]));
      });
  return loop.getResult(0);
}

/// Whether box `i` overlaps one in the rows [begin, end) too much.
Value BoxLoops::isSuppressed(OpBuilder &b, Value batch, Value i, Value rows, Value begin, Value end) {
  IndexMath outer{b, l.loc};
  Box box = load(outer, batch, i);
  auto loop = scf::ForOp::create(
      b, l.loc, begin, end, one, no, [&](OpBuilder &b, Location loc, Value row, ValueRange found) {
        IndexMath m{b, loc};
        Value other = m.fromElement(m.fetch(rows, {row, m.constant(2)}), b.getI64Type());
        Value hit = overlaps(m, box, load(m, batch, m.clamp(other, numBoxes)));
        scf::YieldOp::create(b, loc, ValueRange(arith::OrIOp::create(b, loc, found[0], hit)));
      });
  return loop.getResult(0);
}

/// One class of one image; carried: the rows and how many are used.
scf::ValueVector BoxLoops::selectOfClass(OpBuilder &b, ValueRange at, ValueRange carried) {
  Value batch = at[0], category = at[1], begin = carried[1];
  auto loop = scf::ForOp::create(
      b, l.loc, zero, numBoxes, one, ValueRange{carried[0], carried[1], none, no},
      [&](OpBuilder &b, Location loc, Value, ValueRange state) {
        IndexMath m{b, loc};
        Value next = findNext(b, batch, category, state[2]);
        Value isOver = arith::OrIOp::create(b, loc, state[3], m.less(next, zero));
        Value box = m.max(next, zero);
        Value suppressed = isSuppressed(b, batch, box, state[0], begin, state[1]);
        Value isRoom = m.less(m.sub(state[1], begin), limit);
        Value drop = arith::OrIOp::create(b, loc, isOver, suppressed);
        Value keep = m.both(isRoom, m.equal(m.select(drop, one, zero), zero));
        Value rows = state[0], values[] = {batch, category, box};
        for (int64_t k = 0; k < 3; ++k) {
          Value kept = m.toInteger(m.select(keep, values[k], zero), b.getI64Type());
          rows = tensor::InsertOp::create(b, loc, kept, rows, ValueRange{state[1], m.constant(k)});
        }
        Value count = m.add(state[1], m.select(keep, one, zero));
        scf::YieldOp::create(b, loc, ValueRange{rows, count, next, isOver});
      });
  return {loop.getResult(0), loop.getResult(1)};
}

SmallVector<Value> BoxLoops::build() {
  IndexMath m{l.b, l.loc};
  zero = m.constant(0);
  one = m.constant(1);
  none = m.constant(-1);
  no = m.less(zero, zero);
  numBoxes = l.dimValue(op.getBoxes(), 1);
  limit = m.load(l.operand(op.getLimit()), 0, l.b.getI64Type());
  overlap = m.fetch(l.operand(op.getOverlapThreshold()), {});
  threshold = m.fetch(l.operand(op.getScoreThreshold()), {});
  Value rows = l.filled(op.getSelected(), l.scalar(l.b.getI64Type(), 0));
  SmallVector<Value> uppers = {l.dimValue(op.getScores(), 0), l.dimValue(op.getScores(), 1)};
  SmallVector<Value> lowers(2, zero), steps(2, one);
  auto nest = scf::buildLoopNest(l.b, l.loc, lowers, uppers, steps, ValueRange{rows, zero},
                                 [&](OpBuilder &b, Location, ValueRange at, ValueRange carried) {
                                   return selectOfClass(b, at, carried);
                                 });
  Value count = m.toInteger(nest.results[1], l.b.getI64Type());
  return {nest.results[0],
          tensor::FromElementsOp::create(l.b, l.loc, l.type(op.getCount()), count)};
}

} // namespace

FailureOr<SmallVector<Value>> NonMaxSuppressionOp::lowerToLinalg(LinalgLowering &l) {
  return BoxLoops(*this, l).build();
}

} // namespace dlc::dl
