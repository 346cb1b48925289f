// Ranges, running sums, order and positions.

#include "dialects/dl/ops/Sequence.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/IndexMath.h"
#include "dialects/dl/ScalarMath.h"
#include "dialects/dl/SizeMath.h"
#include "dialects/dl/ops/Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Sequence.cpp.inc"

namespace dlc::dl {

void registerSequenceOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Sequence.cpp.inc"
      >();
}

namespace {

IntegerType i64Type(MLIRContext *context) { return IntegerType::get(context, 64); }

bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

bool isOneI64(const TensorInfo &info) {
  return info.element.isInteger(64) && trackableCount(info.dims) == 1;
}

/// The single element of a tensor that is tracked; null when not known.
AffineExpr onlyElement(const TensorInfo &info) {
  auto elements = trackedElements(info);
  return elements && elements->size() == 1 ? elements->front() : AffineExpr();
}

} // namespace

//===----------------------------------------------------------------------===//
// range_size and range
//===----------------------------------------------------------------------===//

LogicalResult RangeSizeOp::inferTypes(InferContext &c) {
  TensorInfo start = c.of(getStart()), limit = c.of(getLimit()), delta = c.of(getDelta());
  for (const TensorInfo &info : {start, limit, delta})
    if (info.rank() != 0 || info.element != start.element) // C1
      return c.error() << "operands must be scalars of one element type";
  AffineExpr from = onlyElement(start), to = onlyElement(limit), by = onlyElement(delta);
  AffineExpr size;
  auto step = by ? constantSize(by) : std::nullopt;
  if (from && to && step && *step != 0 && *step != INT64_MIN) {
    AffineExpr extent = collectTerms(*step > 0 ? to - from : from - to);
    int64_t stride = std::abs(*step);
    if (auto known = constantSize(extent))
      size = c.constant(*known <= 0 ? 0 : (*known - 1) / stride + 1);
    else if (isNonNegative(extent))
      size = extent.ceilDiv(stride);
  }
  c.addResult({c.constant(1)}, i64Type(c.context()), SmallVector<AffineExpr>{size});
  return success();
}

FailureOr<SmallVector<Value>> RangeSizeOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath index{l.b, l.loc};
  Type element = l.element(getStart()), i64 = l.b.getI64Type();
  ScalarMath m{l.b, l.loc, isUnsigned(element)};
  auto load = [&](Value v) {
    return toCompute(l.b, l.loc, index.fetch(l.operand(v), {}), element);
  };
  Value start = load(getStart()), limit = load(getLimit()), delta = load(getDelta());
  Value size;
  Value zero = m.integer(i64, 0), minusOne = m.integer(i64, -1);
  Value isZero = m.compare(Comparison::eq, delta, m.constant(delta.getType(), 0));
  if (isa<FloatType>(element)) {
    Type f64 = l.b.getF64Type();
    Value extent = m.cast(m.subtract(limit, start), start.getType(), f64);
    Value ratio = m.divide(extent, m.cast(delta, delta.getType(), f64));
    size = m.cast(math::CeilOp::create(l.b, l.loc, ratio), f64, i64);
  } else {
    ScalarMath wide{l.b, l.loc, false};
    auto widen = [&](Value v) { return m.cast(v, element, i64); };
    Value from = widen(start), to = widen(limit), by = widen(delta);
    Value one = wide.integer(i64, 1);
    Value isDown = wide.compare(Comparison::lt, by, zero);
    Value extent = wide.select(isDown, wide.subtract(from, to), wide.subtract(to, from));
    Value stride = wide.select(isDown, wide.negate(by), by);
    Value count = wide.add(wide.divide(wide.subtract(extent, one), stride), one);
    size = wide.select(wide.compare(Comparison::gt, extent, zero), count, zero);
  }
  // A step of 0 makes the size -1, which the run refuses.
  size = arith::MaxSIOp::create(l.b, l.loc, size, zero);
  size = m.select(isZero, minusOne, size);
  return SmallVector<Value>{
      tensor::FromElementsOp::create(l.b, l.loc, l.type(getResult()), size)};
}

LogicalResult RangeOp::inferTypes(InferContext &c) {
  TensorInfo start = c.of(getStart()), delta = c.of(getDelta());
  if (start.rank() != 0 || delta.rank() != 0 || start.element != delta.element) // C1
    return c.error() << "start and delta must be scalars of one element type";
  if (!isOneI64(c.of(getSize()))) // C2
    return c.error() << "size must be an i64 vector of one element";
  Shape dims = {c.element(getSize(), 0)};
  std::optional<SmallVector<AffineExpr>> contents;
  AffineExpr from = onlyElement(start), by = onlyElement(delta);
  if (auto count = trackableCount(dims); count && from && by) {
    contents.emplace();
    for (int64_t i = 0; i < *count; ++i)
      contents->push_back(from + by * i);
  }
  c.addResult(dims, start.element, contents);
  return success();
}

FailureOr<SmallVector<Value>> RangeOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  Type element = l.element(getStart());
  Value start = toCompute(l.b, l.loc, outer.fetch(l.operand(getStart()), {}), element);
  Value delta = toCompute(l.b, l.loc, outer.fetch(l.operand(getDelta()), {}), element);
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &index, ArrayRef<Value> at, ValueRange) {
        ScalarMath m{index.b, index.loc, false};
        Type i64 = index.b.getI64Type();
        Value i = m.cast(index.toInteger(at[0], i64), i64, element);
        return toStorage(index.b, index.loc, m.add(start, m.multiply(i, delta)), element);
      })};
}

//===----------------------------------------------------------------------===//
// cumulate
//===----------------------------------------------------------------------===//

LogicalResult CumulateOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), axis = c.of(getAxis());
  if (!isOneI64(axis)) // C1
    return c.error() << "axis must be one i64 element";
  if (AffineExpr known = onlyElement(axis))
    if (auto value = constantSize(known); value && failed(resolveAxis(c, *value, input.rank())))
      return failure();
  c.addResult(input.dims, input.element);
  return success();
}

SmallVector<IndexRange> CumulateOp::indexRanges(InferContext &c) {
  int64_t rank = c.of(getInput()).rank();
  return {{getAxis(), c.constant(-rank), c.constant(rank)}};
}

// Each element continues from its predecessor along the axis; which axis that
// is may be known only during the run, so predecessors are found by selection.
FailureOr<SmallVector<Value>> CumulateOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  Type element = l.element(getInput());
  Value input = l.operand(getInput());
  int64_t rank = l.rank(getInput()), axisRank = l.rank(getAxis());
  SmallVector<Value> first(axisRank, outer.constant(0));
  Value axis = outer.fromElement(outer.fetch(l.operand(getAxis()), first), l.b.getI64Type());
  axis = outer.wrap(axis, outer.constant(rank));
  SmallVector<Value> sizes, isAxis;
  for (int64_t i = 0; i < rank; ++i) {
    sizes.push_back(l.dimValue(getInput(), i));
    isAxis.push_back(outer.equal(axis, outer.constant(i)));
  }
  ScalarMath math{l.b, l.loc, false};
  Value identity = math.constant(computeType(element), getIsProduct() ? 1 : 0);
  SmallVector<Value> lowers(rank, outer.constant(0)), steps(rank, outer.constant(1));
  Value init = l.empty(getResult());
  auto nest = scf::buildLoopNest(
      l.b, l.loc, lowers, sizes, steps, init,
      [&](OpBuilder &b, Location loc, ValueRange loop, ValueRange carried) {
        IndexMath m{b, loc};
        ScalarMath s{b, loc, false};
        SmallVector<Value> at, before;
        Value zero = m.constant(0), one = m.constant(1), isFirst;
        for (int64_t i = 0; i < rank; ++i) {
          Value back = m.sub(m.sub(sizes[i], one), loop[i]);
          at.push_back(getReverse() ? m.select(isAxis[i], back, loop[i]) : loop[i]);
          Value other = getReverse() ? m.add(at[i], one) : m.sub(at[i], one);
          before.push_back(m.select(isAxis[i], m.clamp(other, sizes[i]), at[i]));
          Value here = m.both(isAxis[i], m.equal(loop[i], zero));
          isFirst = isFirst ? Value(arith::OrIOp::create(b, loc, isFirst, here)) : here;
        }
        auto load = [&](Value tensor, ArrayRef<Value> position) {
          return toCompute(b, loc, m.fetch(tensor, position), element);
        };
        Value own = load(input, getExclusive() ? before : at);
        Value sum = load(carried[0], before);
        if (isFirst) {
          sum = s.select(isFirst, identity, sum);
          if (getExclusive())
            own = s.select(isFirst, identity, own);
        }
        Value next = getIsProduct() ? s.multiply(sum, own) : s.add(sum, own);
        return scf::ValueVector{tensor::InsertOp::create(
            b, loc, toStorage(b, loc, next, element), carried[0], at)};
      });
  return SmallVector<Value>{nest.results.empty() ? input : nest.results[0]};
}

//===----------------------------------------------------------------------===//
// topk
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= input.rank()) // C1
    return c.error() << "axis " << axis << " is outside the rank " << input.rank();
  if (!isOneI64(c.of(getK()))) // C2
    return c.error() << "k must be an i64 vector of one element";
  Shape dims = input.dims;
  dims[axis] = c.element(getK(), 0);
  if (failed(demandAtLeast(c, input.dims[axis], dims[axis], "size of the axis")))
    return failure();
  c.addResult(dims, input.element);
  c.addResult(dims, i64Type(c.context()));
  return success();
}

namespace {

/// True when element (x, i) comes before (y, j).
Value comesBefore(ScalarMath &m, bool largest, Value x, Value i, Value y, Value j) {
  OpBuilder &b = m.b;
  Value isLess = m.compare(Comparison::lt, x, y), isMore = m.compare(Comparison::gt, x, y);
  if (isa<FloatType>(x.getType())) {
    auto isNan = [&](Value v) -> Value {
      return arith::CmpFOp::create(b, m.loc, arith::CmpFPredicate::UNO, v, v);
    };
    Value nanX = isNan(x), nanY = isNan(y);
    auto only = [&](Value yes, Value no) -> Value {
      return arith::AndIOp::create(b, m.loc, yes, m.invert(no));
    };
    isMore = arith::OrIOp::create(b, m.loc, isMore, only(nanX, nanY));
    isLess = arith::OrIOp::create(b, m.loc, isLess, only(nanY, nanX));
  }
  Value better = largest ? isMore : isLess, worse = largest ? isLess : isMore;
  Value isEarlier = arith::CmpIOp::create(b, m.loc, arith::CmpIPredicate::slt, i, j);
  Value tie = arith::AndIOp::create(b, m.loc, m.invert(worse), isEarlier);
  return arith::OrIOp::create(b, m.loc, better, tie);
}

} // namespace

// Selection: each next element is the first in order among those that come
// after the last one. No scratch memory, time proportional to k * size.
FailureOr<SmallVector<Value>> TopKOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  int64_t rank = l.rank(getInput()), axis = getAxis();
  Type element = l.element(getInput());
  Value input = l.operand(getInput());
  Value size = l.dimValue(getInput(), axis), k = l.dimValue(getValues(), axis);
  Value zero = outer.constant(0), one = outer.constant(1), none = outer.constant(-1);
  SmallVector<Value> uppers;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      uppers.push_back(l.dimValue(getInput(), i));
  SmallVector<Value> lowers(uppers.size(), zero), steps(uppers.size(), one);
  SmallVector<Value> inits = {l.empty(getValues()), l.empty(getIndices())};
  Value start = l.scalar(computeType(element), 0);

  // Finds the next element of the row `at` after (last, lastIndex).
  auto findNext = [&](OpBuilder &b, Location loc, SmallVector<Value> at, Value last,
                      Value lastIndex) {
    return scf::ForOp::create(
        b, loc, zero, size, one, ValueRange{start, none},
        [&](OpBuilder &b, Location loc, Value i, ValueRange best) {
          IndexMath m{b, loc};
          ScalarMath s{b, loc, isUnsigned(element)};
          at[axis] = i;
          Value x = toCompute(b, loc, m.fetch(input, at), element);
          Value isFirst = m.less(lastIndex, zero), isEmpty = m.less(best[1], zero);
          Value follows = comesBefore(s, getLargest(), last, lastIndex, x, i);
          Value better = comesBefore(s, getLargest(), x, i, best[0], best[1]);
          auto either = [&](Value p, Value q) -> Value {
            return arith::OrIOp::create(b, loc, p, q);
          };
          Value take = m.both(either(isFirst, follows), either(isEmpty, better));
          scf::YieldOp::create(b, loc, ValueRange{s.select(take, x, best[0]),
                                                  m.select(take, i, best[1])});
        });
  };
  auto nest = scf::buildLoopNest(
      l.b, l.loc, lowers, uppers, steps, inits,
      [&](OpBuilder &b, Location loc, ValueRange others, ValueRange carried) {
        SmallVector<Value> at(others);
        at.insert(at.begin() + axis, zero);
        auto row = scf::ForOp::create(
            b, loc, zero, k, one, ValueRange{carried[0], carried[1], start, none},
            [&](OpBuilder &b, Location loc, Value j, ValueRange state) {
              IndexMath m{b, loc};
              auto next = findNext(b, loc, at, state[2], state[3]);
              SmallVector<Value> target = at;
              target[axis] = j;
              Value value = toStorage(b, loc, next.getResult(0), element);
              Value index = m.toInteger(next.getResult(1), b.getI64Type());
              Value values = tensor::InsertOp::create(b, loc, value, state[0], target);
              Value indices = tensor::InsertOp::create(b, loc, index, state[1], target);
              scf::YieldOp::create(b, loc, ValueRange{values, indices, next.getResult(0),
                                                      next.getResult(1)});
            });
        return scf::ValueVector{row.getResult(0), row.getResult(1)};
      });
  return SmallVector<Value>(nest.results.begin(), nest.results.end());
}

//===----------------------------------------------------------------------===//
// nonzero
//===----------------------------------------------------------------------===//

LogicalResult NonZeroOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  AffineExpr total = product(input.dims, c.context());
  c.addResult({c.constant(input.rank()), total}, i64Type(c.context()));
  c.addResult({c.constant(1)}, i64Type(c.context()));
  return success();
}

FailureOr<SmallVector<Value>> NonZeroOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  int64_t rank = l.rank(getInput());
  Type element = l.element(getInput());
  Value zero = outer.constant(0), one = outer.constant(1);
  SmallVector<Value> uppers;
  for (OpFoldResult size : l.dims(getInput()))
    uppers.push_back(l.asValue(size));
  SmallVector<Value> lowers(rank, zero), steps(rank, one);
  Value positions = l.filled(getPositions(), l.scalar(l.b.getI64Type(), 0));
  Value count;
  if (rank == 0) {
    count = zero;
  } else {
    auto nest = scf::buildLoopNest(
        l.b, l.loc, lowers, uppers, steps, ValueRange{positions, zero},
        [&](OpBuilder &b, Location loc, ValueRange at, ValueRange carried) {
          IndexMath m{b, loc};
          ScalarMath s{b, loc, isUnsigned(element)};
          Value x = toCompute(b, loc, m.fetch(l.operand(getInput()), at), element);
          Value isSet = s.cast(x, isa<FloatType>(element) ? x.getType() : element,
                               b.getI1Type());
          Value column = carried[1], next = carried[0];
          for (int64_t i = 0; i < rank; ++i) {
            Value coordinate = m.select(isSet, at[i], zero);
            next = tensor::InsertOp::create(b, loc, m.toInteger(coordinate, b.getI64Type()),
                                            next, ValueRange{m.constant(i), column});
          }
          return scf::ValueVector{next, m.add(column, m.select(isSet, one, zero))};
        });
    positions = nest.results[0];
    count = nest.results[1];
  }
  Value stored = outer.toInteger(count, l.b.getI64Type());
  return SmallVector<Value>{
      positions,
      tensor::FromElementsOp::create(l.b, l.loc, l.type(getCount()), stored)};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> RangeOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value dy = grads[0], steps = g.cast(g.iota(g.sizesOf(dy, 0)), elementOf(dy));
  return SmallVector<Value>{g.sum(dy, 0, false), g.sum(g.mul(dy, steps), 0, false), Value()};
}

// Every element is in the sums from its place on: the running sum from the other end.
FailureOr<SmallVector<Value>> CumulateOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  if (getIsProduct())
    return g.refuse("running products");
  Value dx = g.make<CumulateOp>(grads[0], getAxis(), UnitAttr(), getExclusiveAttr(),
                                getReverse() ? UnitAttr() : g.b.getUnitAttr());
  return SmallVector<Value>{dx, Value()};
}

FailureOr<SmallVector<Value>> TopKOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value dx = g.make<ScatterElementsOp>(g.zerosLike(getInput()), getIndices(), grads[0], getAxis(),
                                       ScatterMode::add);
  return SmallVector<Value>{dx, Value()};
}

} // namespace dlc::dl
