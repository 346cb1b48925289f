// Sizes and movement with computed operands, in dl ops.

#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Sequence.h"
#include "dialects/dl/ops/Slice.h"

using namespace mlir;

namespace dlc::onnx {

Value ShapeTools::shape(Value v) {
  if (!v)
    return {};
  return c.shapeOf(v);
}

Value ShapeTools::size(Value v, int64_t axis) {
  if (!v)
    return {};
  if (!c.type(v).isDynamicDim(axis))
    return c.ints({c.type(v).getDimSize(axis)});
  return pick(shape(v), {axis});
}

Value ShapeTools::gather(Value v, Value indices, int64_t axis) {
  return c.make<dl::GatherOp>(v, indices, c.b.getI64IntegerAttr(axis));
}

Value ShapeTools::pick(Value vector, ArrayRef<int64_t> positions) {
  if (!vector)
    return {};
  if (auto known = c.constantInts(vector);
      known && c.element(vector).isInteger(64)) {
    NodeContext::Ints picked;
    for (int64_t i : positions)
      picked.push_back((*known)[i < 0 ? i + known->size() : i]);
    return c.ints(picked);
  }
  return gather(vector, c.ints(positions), 0);
}

Value ShapeTools::product(Value vector, int64_t begin, int64_t end) {
  Value result = c.ints({1});
  for (int64_t i = begin; i < end; ++i)
    result = c.make<dl::MulOp>(result, pick(vector, {i}));
  return result;
}

std::optional<int64_t> ShapeTools::length(Value vector) {
  auto type = c.type(vector);
  if (type.getRank() != 1 || type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

Value ShapeTools::vector(Value v) {
  if (!v)
    return {};
  Value wide = c.cast(v, c.b.getI64Type());
  return wide && c.rank(wide) == 1 ? wide : c.reshape(wide, {-1});
}

Value ShapeTools::iota(Value size) {
  Type i64 = c.b.getI64Type();
  return c.make<dl::RangeOp>(c.scalar(i64, 0), c.scalar(i64, 1), size);
}

Value ShapeTools::toScalar(Value v) {
  return v && c.rank(v) == 0 ? v : c.reshape(v, ArrayRef<int64_t>{});
}

Value ShapeTools::reshapeTo(Value v, Value shape) {
  return c.make<dl::ReshapeOp>(v, shape);
}

Value ShapeTools::unsqueeze(Value v, int64_t axis) {
  if (!v)
    return {};
  NodeContext::Ints positions;
  for (int64_t i = 0; i < c.rank(v); ++i)
    positions.push_back(i);
  positions.insert(positions.begin() + axis, c.rank(v));
  return reshapeTo(v, pick(concat({shape(v), c.ints({1})}), positions));
}

Value ShapeTools::dropAxis(Value v, int64_t axis) {
  if (!v)
    return {};
  NodeContext::Ints positions;
  for (int64_t i = 0; i < c.rank(v); ++i)
    if (i != axis)
      positions.push_back(i);
  return reshapeTo(v, pick(shape(v), positions));
}

Value ShapeTools::concat(ArrayRef<Value> parts, int64_t axis) {
  if (llvm::is_contained(parts, Value()))
    return {};
  if (parts.size() == 1)
    return parts.front();
  return c.make<dl::ConcatOp>(ValueRange(parts), c.b.getI64IntegerAttr(axis));
}

Value ShapeTools::expandTo(Value v, Value shape) { return c.make<dl::ExpandOp>(v, shape); }

Value ShapeTools::slice(Value v, int64_t axis, Value start, Value end) {
  Value bounds =
      c.make<dl::SliceBoundsOp>(v, start, end, c.ints({axis}), c.ints({1}));
  return c.make<dl::SliceOp>(v, bounds);
}

Value ShapeTools::slice(Value v, int64_t axis, int64_t start, int64_t end, int64_t step) {
  Value bounds = c.make<dl::SliceBoundsOp>(v, c.ints({start}), c.ints({end}),
                                           c.ints({axis}), c.ints({step}));
  return c.make<dl::SliceOp>(v, bounds);
}

Value ShapeTools::compare(StringRef predicate, Value x, Value y) {
  return c.make<dl::CompareOp>(
      x, y, dl::ComparisonAttr::get(c.b.getContext(), *dl::symbolizeComparison(predicate)));
}

} // namespace dlc::onnx
