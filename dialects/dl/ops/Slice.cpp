// Slices, padding and reversal: bounds that stay symbolic, and their loops.

#include "dialects/dl/ops/Slice.h"

#include "dialects/dl/IndexMath.h"
#include "dialects/dl/SizeMath.h"
#include "dialects/dl/ops/Constant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Slice.cpp.inc"

namespace dlc::dl {

void registerSliceOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Slice.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// slice_bounds
//===----------------------------------------------------------------------===//

namespace {

/// Beyond this, a start or end means "to the very end".
constexpr int64_t kFar = INT32_MAX;

struct AxisBounds {
  AffineExpr start, size, step;
};

/// Python's rules on numbers.
AxisBounds resolveStatic(InferContext &c, int64_t size, int64_t start, int64_t end,
                         int64_t step) {
  // All three are far from overflow once clamped.
  auto fromEnd = [&](int64_t i) { return i < 0 ? i + size : i; };
  step = std::max(step, -(int64_t(1) << 62));
  int64_t count;
  if (step > 0) {
    start = std::clamp<int64_t>(fromEnd(start), 0, size);
    end = std::clamp<int64_t>(fromEnd(end), 0, size);
    count = end > start ? (end - start - 1) / step + 1 : 0;
  } else {
    start = std::min(std::max<int64_t>(fromEnd(start), 0), size - 1);
    end = std::min(std::max<int64_t>(fromEnd(end), -1), size - 1);
    count = start > end ? (start - end - 1) / -step + 1 : 0;
  }
  return {c.constant(count == 0 ? 0 : start), c.constant(count), c.constant(step)};
}

/// A start or end as a position in [0, size], where that can be said. May
/// demand facts of the run; `failed` only after an error.
FailureOr<AffineExpr> resolvePosition(InferContext &c, AffineExpr size,
                                      AffineExpr position) {
  AffineExpr resolved = position;
  if (auto value = constantSize(position)) {
    if (*value >= kFar)
      return size;
    // A position farther in may lie outside a short axis, where it is clamped.
    if (*value < -1 || (*value > 1 && !isNonNegative(collectTerms(size - position))))
      return AffineExpr();
    if (*value == -1)
      resolved = size - 1;
  } else if (!isNonNegative(position)) {
    return AffineExpr();
  }
  AffineExpr bound = resolved == position ? position : c.constant(1);
  if (failed(demandAtLeast(c, size, bound, "sliced size")))
    return failure();
  return resolved;
}

FailureOr<AxisBounds> resolveSymbolic(InferContext &c, AffineExpr size, AffineExpr start,
                                      AffineExpr end, AffineExpr step) {
  AxisBounds unknown = {{}, {}, step};
  auto by = step ? constantSize(step) : std::nullopt;
  if (!start || !end || !by)
    return unknown;
  auto from = constantSize(start), to = constantSize(end), whole = constantSize(size);
  if (from && to && whole)
    return resolveStatic(c, *whole, *from, *to, *by);
  if (*by == -1 && from && (*from == -1 || *from >= kFar) && to && *to <= -kFar)
    return AxisBounds{size - 1, size, step};
  if (*by < 1)
    return unknown;
  auto first = resolvePosition(c, size, start), last = resolvePosition(c, size, end);
  if (failed(first) || failed(last))
    return failure();
  if (!*first || !*last)
    return unknown;
  if (failed(demandAtLeast(c, *last, *first, "end of the slice")))
    return failure();
  AffineExpr extent = collectTerms(*last - *first);
  return AxisBounds{*first, extent.ceilDiv(*by), step};
}

} // namespace

LogicalResult SliceBoundsOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  int64_t rank = input.rank();
  SmallVector<SmallVector<AffineExpr>, 4> lists; // starts, ends, axes, steps
  for (Value operand : getOperands().drop_front()) {
    TensorInfo info = c.of(operand);
    auto length = shapeOperandLength(c, info, "every list"); // C1
    if (failed(length))
      return failure();
    lists.push_back(trackedElements(info).value_or(SmallVector<AffineExpr>(*length)));
    if (lists.back().size() != lists.front().size())
      return c.error() << "lists have the lengths " << lists.front().size() << " and "
                       << lists.back().size();
  }
  SmallVector<std::optional<size_t>> entry(rank);
  bool allAxesKnown = true;
  for (auto [i, axis] : llvm::enumerate(lists[2])) {
    auto value = axis ? constantSize(axis) : std::nullopt;
    allAxesKnown &= value.has_value();
    if (!value)
      continue;
    auto resolved = resolveAxis(c, *value, rank); // C2
    if (failed(resolved))
      return failure();
    if (entry[*resolved])
      return c.error() << "axis " << *value << " is given twice";
    entry[*resolved] = i;
  }
  for (AffineExpr step : lists[3])
    if (step && constantSize(step) == 0) // C3
      return c.error() << "step is 0";
  SmallVector<AffineExpr> contents(3 * rank);
  for (int64_t axis = 0; axis < rank && allAxesKnown; ++axis) {
    AxisBounds bounds = {c.constant(0), input.dims[axis], c.constant(1)};
    if (auto i = entry[axis]) {
      auto resolved = resolveSymbolic(c, input.dims[axis], lists[0][*i], lists[1][*i],
                                      lists[3][*i]);
      if (failed(resolved))
        return failure();
      bounds = *resolved;
    }
    contents[axis] = bounds.start;
    contents[rank + axis] = bounds.size;
    contents[2 * rank + axis] = bounds.step;
  }
  bool isTracked = allAxesKnown && 3 * rank <= kMaxTrackedElements;
  c.addResult({c.constant(3), c.constant(rank)}, IntegerType::get(c.context(), 64),
              isTracked ? std::optional(contents) : std::nullopt);
  return success();
}

namespace {

/// The same rules as resolveStatic, emitted.
SmallVector<Value, 3> emitBounds(IndexMath &m, Value size, Value start, Value end,
                                 Value step) {
  Value zero = m.constant(0), one = m.constant(1), minusOne = m.constant(-1);
  Value isZero = m.equal(step, zero);
  Value isForward = m.less(zero, step), last = m.sub(size, one);
  start = m.max(m.wrap(start, size), zero);
  start = m.min(start, m.select(isForward, size, last));
  end = m.max(m.wrap(end, size), m.select(isForward, zero, minusOne));
  end = m.min(end, m.select(isForward, size, last));
  step = m.max(step, m.constant(-(int64_t(1) << 62)));
  Value extent = m.select(isForward, m.sub(end, start), m.sub(start, end));
  Value stride = m.select(isForward, step, m.sub(zero, step));
  stride = m.select(isZero, one, stride);
  Value count = m.add(m.div(m.sub(m.max(extent, one), one), stride), one);
  count = m.select(m.less(zero, extent), count, zero);
  // No slice has the step 0: the size -1 makes the run refuse it.
  return {start, m.select(isZero, minusOne, count), step};
}

} // namespace

FailureOr<SmallVector<Value>> SliceBoundsOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath m{l.b, l.loc};
  Type i64 = l.b.getI64Type();
  int64_t rank = l.rank(getInput());
  int64_t length = cast<RankedTensorType>(getStarts().getType()).getDimSize(0);
  if (rank == 0)
    return SmallVector<Value>{l.empty(getResult())};
  SmallVector<Value> rows(3 * rank);
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value size = l.dimValue(getInput(), axis), number = m.constant(axis);
    Value start = m.constant(0), end = size, step = m.constant(1);
    for (int64_t i = 0; i < length; ++i) {
      auto at = [&](Value list) { return m.load(l.operand(list), i, i64); };
      Value isThis = m.equal(m.wrap(at(getAxes()), m.constant(rank)), number);
      start = m.select(isThis, at(getStarts()), start);
      end = m.select(isThis, at(getEnds()), end);
      step = m.select(isThis, at(getSteps()), step);
    }
    SmallVector<Value, 3> bounds = emitBounds(m, size, start, end, step);
    for (int64_t row = 0; row < 3; ++row)
      rows[row * rank + axis] = m.toInteger(bounds[row], i64);
  }
  return SmallVector<Value>{
      tensor::FromElementsOp::create(l.b, l.loc, l.type(getResult()), rows)};
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), bounds = c.of(getBounds());
  int64_t rank = input.rank();
  if (!bounds.element.isInteger(64) || bounds.rank() != 2 ||
      constantSize(bounds.dims[0]) != 3 || constantSize(bounds.dims[1]) != rank) // C1
    return c.error() << "bounds must be 3 x " << rank << " elements of type i64";
  auto known = trackedElements(bounds).value_or(SmallVector<AffineExpr>(3 * rank));
  Shape dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    dims.push_back(c.element(getBounds(), rank + axis));
    auto constantAt = [&](int64_t row) {
      AffineExpr expr = known[row * rank + axis];
      return expr ? constantSize(expr) : std::nullopt;
    };
    auto start = constantAt(0), size = constantAt(1), step = constantAt(2);
    if (!start || !size || !step || *size <= 0)
      continue;
    int64_t last;
    if (llvm::MulOverflow(*size - 1, *step, last) || llvm::AddOverflow(last, *start, last) ||
        std::min(*start, last) < 0) // C2
      return c.error() << "slice leaves the tensor along axis " << axis;
    if (failed(demandAtLeast(c, input.dims[axis], c.constant(std::max(*start, last) + 1),
                             "sliced size along axis " + Twine(axis))))
      return failure();
  }
  std::optional<SmallVector<AffineExpr>> contents;
  auto count = trackableCount(dims);
  if (rank == 1 && count && input.contents && known[0] && known[2]) {
    auto start = constantSize(known[0]), step = constantSize(known[2]);
    contents.emplace(*count);
    for (int64_t i = 0; i < *count && start && step; ++i)
      (*contents)[i] = (*input.contents)[*start + i * *step];
  }
  c.addResult(dims, input.element, contents);
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getInput().getType());
  auto bounds = constantElements(getBounds());
  if (!bounds || type != getType() || !type.hasStaticShape())
    return {};
  int64_t rank = type.getRank();
  for (int64_t axis = 0; axis < rank; ++axis)
    if ((*bounds)[axis] != 0 || (*bounds)[2 * rank + axis] != 1)
      return {};
  return getInput();
}

FailureOr<SmallVector<Value>>
SliceOp::permuteLayout(OpBuilder &b, ValueRange operands, ArrayRef<int64_t> perm) {
  auto bounds = constantElements(getBounds());
  int64_t rank = perm.size();
  if (!bounds || int64_t(bounds->size()) != 3 * rank)
    return failure();
  SmallVector<int64_t> permuted;
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t axis : perm)
      permuted.push_back((*bounds)[row * rank + axis]);
  auto type = cast<RankedTensorType>(getBounds().getType());
  auto constant = ConstantOp::create(b, getLoc(), type, DenseElementsAttr::get(type, ArrayRef(permuted)));
  return SmallVector<Value>{make<SliceOp>(b, getLoc(), operands[0], constant).getResult()};
}

FailureOr<SmallVector<Value>> SliceOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  Value input = l.operand(getInput());
  int64_t rank = l.rank(getInput());
  auto bounds = constantElements(getBounds());
  if (bounds && llvm::all_of(ArrayRef(*bounds).drop_front(2 * rank),
                             [](int64_t step) { return step > 0; })) {
    SmallVector<OpFoldResult> offsets, strides;
    for (int64_t axis = 0; axis < rank; ++axis) {
      offsets.push_back(l.b.getIndexAttr((*bounds)[axis]));
      strides.push_back(l.b.getIndexAttr((*bounds)[2 * rank + axis]));
    }
    Value slice = tensor::ExtractSliceOp::create(l.b, l.loc, input, offsets,
                                                 l.dims(getResult()), strides);
    return SmallVector<Value>{copyInto(l, slice, l.empty(getResult()))};
  }
  SmallVector<Value> starts, steps, sizes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    auto at = [&](int64_t row) {
      if (bounds)
        return outer.constant((*bounds)[row * rank + axis]);
      Value stored = outer.fetch(l.operand(getBounds()),
                                 {outer.constant(row), outer.constant(axis)});
      return outer.fromElement(stored, l.b.getI64Type());
    };
    starts.push_back(at(0));
    steps.push_back(at(2));
    sizes.push_back(l.dimValue(getInput(), axis));
  }
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &m, ArrayRef<Value> indices, ValueRange) {
        SmallVector<Value> source;
        for (int64_t axis = 0; axis < rank; ++axis)
          source.push_back(m.clamp(
              m.add(starts[axis], m.mul(indices[axis], steps[axis])), sizes[axis]));
        return m.fetch(input, source);
      })};
}

Value sliceAxis(OpBuilder &b, Location loc, Value input, int64_t axis, int64_t start,
                int64_t end, int64_t step) {
  auto type = RankedTensorType::get({1}, b.getI64Type());
  auto vector = [&](int64_t value) -> Value {
    return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, value));
  };
  auto bounds = make<SliceBoundsOp>(b, loc, input, vector(start), vector(end),
                                    vector(axis), vector(step));
  if (!bounds)
    return {};
  auto slice = make<SliceOp>(b, loc, input, bounds.getResult());
  return slice ? slice.getResult() : Value();
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), value = c.of(getValue());
  int64_t rank = input.rank();
  auto length = shapeOperandLength(c, c.of(getPads()), "pads");
  if (failed(length))
    return failure();
  if (*length != 2 * rank) // C1
    return c.error() << "pads has " << *length << " elements, expects " << 2 * rank;
  if (value.rank() != 0 || value.element != input.element) // C2
    return c.error() << "value must be a scalar of type " << input.element;
  Shape dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    AffineExpr before = c.element(getPads(), axis);
    AffineExpr after = c.element(getPads(), rank + axis);
    dims.push_back(collectTerms(input.dims[axis] + before + after));
    bool isPadded = constantSize(before) != 0 || constantSize(after) != 0;
    bool canBeEmpty = getMode() == PadMode::constant && constantSize(input.dims[axis]) == 0;
    if (isPadded && !canBeEmpty && // C3
        failed(demandAtLeast(c, input.dims[axis], c.constant(1), "padded size")))
      return failure();
  }
  c.addResult(dims, input.element);
  return success();
}

FailureOr<SmallVector<Value>>
PadOp::permuteLayout(OpBuilder &b, ValueRange operands, ArrayRef<int64_t> perm) {
  auto pads = constantElements(getPads());
  int64_t rank = perm.size();
  if (!pads || int64_t(pads->size()) != 2 * rank)
    return failure();
  SmallVector<int64_t> permuted;
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t axis : perm)
      permuted.push_back((*pads)[row * rank + axis]);
  auto type = cast<RankedTensorType>(getPads().getType());
  auto constant = ConstantOp::create(b, getLoc(), type, DenseElementsAttr::get(type, ArrayRef(permuted)));
  auto op = make<PadOp>(b, getLoc(), operands[0], constant, operands[2], getModeAttr());
  return SmallVector<Value>{op.getResult()};
}

namespace {

/// The source index of position `i` (which may lie outside) along one axis.
Value sourceIndex(IndexMath &m, PadMode mode, Value i, Value size) {
  Value zero = m.constant(0), one = m.constant(1);
  switch (mode) {
  case PadMode::constant:
  case PadMode::edge:
    return m.clamp(i, size);
  case PadMode::wrap: {
    Value rest = m.rem(i, m.max(size, one));
    return m.wrap(rest, size);
  }
  case PadMode::reflect: {
    // The image repeats after there and back again, both edges once.
    Value last = m.sub(size, one), period = m.max(m.add(last, last), one);
    Value rest = m.wrap(m.rem(i, period), period);
    Value mirrored = m.select(m.less(last, rest), m.sub(period, rest), rest);
    return m.select(m.less(zero, last), mirrored, zero);
  }
  }
  return zero;
}

/// Constant padding by known amounts: fill, then copy into the middle.
Value fillAndInsert(PadOp op, LinalgLowering &l, ArrayRef<int64_t> pads, Value scalar) {
  int64_t rank = l.rank(op.getInput());
  Value filled = l.filled(op.getResult(), scalar);
  SmallVector<OpFoldResult> offsets, sizes = l.dims(op.getInput());
  SmallVector<OpFoldResult> strides(rank, l.b.getIndexAttr(1));
  for (int64_t axis = 0; axis < rank; ++axis)
    offsets.push_back(l.b.getIndexAttr(pads[axis]));
  Value middle = tensor::ExtractSliceOp::create(l.b, l.loc, filled, offsets, sizes, strides);
  Value copied = copyInto(l, l.operand(op.getInput()), middle);
  return tensor::InsertSliceOp::create(l.b, l.loc, copied, filled, offsets, sizes, strides);
}

} // namespace

FailureOr<SmallVector<Value>> PadOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath outer{l.b, l.loc};
  Value input = l.operand(getInput());
  int64_t rank = l.rank(getInput());
  auto type = cast<RankedTensorType>(getInput().getType());
  auto pads = constantElements(getPads());
  bool isConstant = getMode() == PadMode::constant;
  Value scalar = outer.fetch(l.operand(getValue()), {});
  bool onlyGrows = pads && llvm::all_of(*pads, [](int64_t n) { return n >= 0; });
  if (isConstant && llvm::is_contained(type.getShape(), 0))
    return SmallVector<Value>{l.filled(getResult(), scalar)};
  if (isConstant && onlyGrows)
    return SmallVector<Value>{fillAndInsert(*this, l, *pads, scalar)};
  SmallVector<Value> before, sizes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    before.push_back(pads ? outer.constant((*pads)[axis])
                          : outer.load(l.operand(getPads()), axis, l.b.getI64Type()));
    sizes.push_back(l.dimValue(getInput(), axis));
  }
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &m, ArrayRef<Value> indices, ValueRange) {
        SmallVector<Value> source;
        Value isInside;
        for (int64_t axis = 0; axis < rank; ++axis) {
          Value i = m.sub(indices[axis], before[axis]);
          source.push_back(sourceIndex(m, getMode(), i, sizes[axis]));
          Value same = m.equal(source.back(), i);
          isInside = isInside ? m.both(isInside, same) : same;
        }
        Value element = m.fetch(input, source);
        return isConstant && isInside ? m.select(isInside, element, scalar) : element;
      })};
}

//===----------------------------------------------------------------------===//
// reverse_sequence
//===----------------------------------------------------------------------===//

LogicalResult ReverseSequenceOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), lengths = c.of(getLengths());
  int64_t time = getTimeAxis(), batch = getBatchAxis();
  if (time < 0 || batch < 0 || time >= input.rank() || batch >= input.rank() ||
      time == batch) // C1
    return c.error() << "axes " << time << " and " << batch << " do not fit rank "
                     << input.rank();
  if (lengths.rank() != 1 || !lengths.element.isInteger(64)) // C2
    return c.error() << "lengths must be an i64 vector";
  if (failed(c.equal(lengths.dims[0], input.dims[batch], "batch size")))
    return failure();
  c.addResult(input.dims, input.element);
  return success();
}

SmallVector<IndexRange> ReverseSequenceOp::indexRanges(InferContext &c) {
  return {{getLengths(), c.constant(0), c.of(getInput()).dims[getTimeAxis()] + 1}};
}

FailureOr<SmallVector<Value>> ReverseSequenceOp::lowerToLinalg(LinalgLowering &l) {
  Value input = l.operand(getInput()), lengths = l.operand(getLengths());
  int64_t time = getTimeAxis();
  Value size = l.dimValue(getInput(), time);
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &m, ArrayRef<Value> indices, ValueRange) {
        SmallVector<Value> source(indices);
        Value length = m.fromElement(m.fetch(lengths, indices[getBatchAxis()]),
                                     m.b.getI64Type());
        Value mirrored = m.sub(m.sub(length, m.constant(1)), indices[time]);
        Value isInside = m.less(indices[time], length);
        source[time] = m.clamp(m.select(isInside, mirrored, indices[time]), size);
        return m.fetch(input, source);
      })};
}

} // namespace dlc::dl
