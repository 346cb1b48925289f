// ONNX ops that read and write at computed positions, and sequences.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Scatter.h"
#include "dialects/dl/ops/Sequence.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

using Ints = NodeContext::Ints;

LogicalResult gather(NodeContext &c) {
  auto axis = c.normalizeAxis(c.intAttr("axis", 0), c.rank(c.input(0)));
  return failed(axis) ? failure()
                      : c.done(ShapeTools{c}.gather(c.input(0), c.input(1), *axis));
}

LogicalResult gatherElements(NodeContext &c) {
  auto axis = c.normalizeAxis(c.intAttr("axis", 0), c.rank(c.input(0)));
  if (failed(axis))
    return failure();
  return c.done(c.make<dl::GatherElementsOp>(c.input(0), c.input(1),
                                             c.b.getI64IntegerAttr(*axis)));
}

/// The coordinates in the last axis of `indices`, one tensor each; none after
/// an error.
SmallVector<Value> coordinates(NodeContext &c, Value indices) {
  ShapeTools s{c};
  int64_t rank = c.rank(indices);
  if (rank == 0 || c.type(indices).isDynamicDim(rank - 1)) {
    (void)c.unsupported("indices whose last size is not static");
    return {};
  }
  SmallVector<Value> columns;
  for (int64_t i = 0; i < c.type(indices).getDimSize(rank - 1); ++i) {
    Value column = s.dropAxis(s.slice(indices, rank - 1, i, i + 1), rank - 1);
    if (!column)
      return {};
    columns.push_back(column);
  }
  return columns;
}

LogicalResult gatherNd(NodeContext &c) {
  SmallVector<Value> columns = coordinates(c, c.input(1));
  if (columns.empty())
    return failure();
  return c.done(c.make<dl::GatherNdOp>(c.input(0), ValueRange(columns),
                                       c.b.getI64IntegerAttr(c.intAttr("batch_dims", 0))));
}

FailureOr<dl::ScatterModeAttr> scatterMode(NodeContext &c) {
  std::string name = c.stringAttr("reduction", "none");
  auto mode = dl::symbolizeScatterMode(name == "none" ? "replace" : name);
  if (!mode) {
    (void)c.unsupported("reduction '" + name + "'");
    return failure();
  }
  return dl::ScatterModeAttr::get(c.b.getContext(), *mode);
}

LogicalResult scatterElements(NodeContext &c) {
  auto mode = scatterMode(c);
  auto axis = c.normalizeAxis(c.intAttr("axis", 0), c.rank(c.input(0)));
  if (failed(mode) || failed(axis))
    return failure();
  return c.done(c.make<dl::ScatterElementsOp>(c.input(0), c.input(1), c.input(2),
                                              c.b.getI64IntegerAttr(*axis), *mode));
}

LogicalResult scatterNd(NodeContext &c) {
  auto mode = scatterMode(c);
  SmallVector<Value> columns = coordinates(c, c.input(1));
  if (failed(mode) || columns.empty())
    return failure();
  return c.done(c.make<dl::ScatterNdOp>(c.input(0), c.input(2), ValueRange(columns), *mode));
}

// onehot(i)[j] = j == i (counted from the end where negative) ? on : off
LogicalResult oneHot(NodeContext &c) {
  ShapeTools s{c};
  Type i64 = c.b.getI64Type();
  Value indices = c.cast(c.input(0), i64), values = c.input(2);
  int64_t rank = c.rank(indices) + 1;
  auto axis = c.normalizeAxis(c.intAttr("axis", -1), rank);
  if (failed(axis))
    return failure();
  Value depth = s.vector(c.input(1));
  Value negative = s.compare("lt", indices, c.scalar(i64, 0));
  Value wrapped = c.make<dl::AddOp>(indices, s.toScalar(depth));
  Value index = s.unsqueeze(c.make<dl::SelectOp>(negative, wrapped, indices), *axis);
  Ints column(rank - *axis, 1);
  column[0] = -1;
  Value isSet = s.compare("eq", index, c.reshape(s.iota(depth), column));
  Value on = s.toScalar(s.slice(values, 0, 1, 2)), off = s.toScalar(s.slice(values, 0, 0, 1));
  return c.done(c.make<dl::SelectOp>(isSet, on, off));
}

/// The positions of the elements that are not zero: rank x count.
Value nonZeroPositions(NodeContext &c, Value v) {
  SmallVector<Value> found = c.makeMulti<dl::NonZeroOp>(2, v);
  return ShapeTools{c}.slice(found[0], 1, c.ints({0}), found[1]);
}

LogicalResult nonZero(NodeContext &c) {
  return c.done(nonZeroPositions(c, c.input(0)));
}

LogicalResult compress(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  int64_t axis = 0;
  if (c.has("axis")) {
    auto normal = c.normalizeAxis(c.intAttr("axis", 0), c.rank(x));
    if (failed(normal))
      return failure();
    axis = *normal;
  } else {
    x = c.reshape(x, {-1});
  }
  if (c.rank(c.input(1)) != 1)
    return c.invalid("has a condition of rank " + Twine(c.rank(c.input(1))));
  Value positions = nonZeroPositions(c, c.input(1));
  return c.done(s.gather(x, c.reshape(positions, {-1}), axis));
}

LogicalResult range(NodeContext &c) {
  ShapeTools s{c};
  c.ignoreAttr("stash_type"); // Narrow floats are computed in f32 anyway.
  Value start = s.toScalar(c.input(0)), limit = s.toScalar(c.input(1));
  Value delta = s.toScalar(c.input(2));
  Value size = c.make<dl::RangeSizeOp>(start, limit, delta);
  return c.done(c.make<dl::RangeOp>(start, delta, size));
}

template <bool isProduct> LogicalResult cumulate(NodeContext &c) {
  Value axis = c.cast(c.input(1), c.b.getI64Type());
  return c.done(c.make<dl::CumulateOp>(c.input(0), axis, isProduct,
                                       c.intAttr("exclusive", 0) != 0,
                                       c.intAttr("reverse", 0) != 0));
}

LogicalResult topK(NodeContext &c) {
  ShapeTools s{c};
  Value k = c.opset < 10 ? c.ints({c.intAttr("k", 0)}) : s.vector(c.input(1));
  auto axis = c.normalizeAxis(c.intAttr("axis", -1), c.rank(c.input(0)));
  if (failed(axis))
    return failure();
  bool largest = c.opset < 11 || c.intAttr("largest", 1);
  c.ignoreAttr("sorted"); // Sorted results serve either wish.
  SmallVector<Value> found = c.makeMulti<dl::TopKOp>(
      2, c.input(0), k, c.b.getI64IntegerAttr(*axis),
      largest ? c.b.getUnitAttr() : UnitAttr());
  c.setOutput(0, found[0]);
  c.setOutput(1, found[1]);
  return success();
}

} // namespace

void addIndexing(Registry &r) {
  r.add("Compress", 2, 2, compress, 9);
  r.add("CumProd", 2, 2, cumulate<true>, 26);
  r.add("CumSum", 2, 2, cumulate<false>, 11);
  r.add("Gather", 2, 2, gather);
  r.add("GatherElements", 2, 2, gatherElements, 11);
  r.add("GatherND", 2, 2, gatherNd, 11);
  r.add("NonZero", 1, 1, nonZero, 9);
  r.add("OneHot", 3, 3, oneHot, 9);
  r.add("Range", 3, 3, range, 11);
  r.add("Scatter", 3, 3, scatterElements, 9);
  r.add("ScatterElements", 3, 3, scatterElements, 11);
  r.add("ScatterND", 3, 3, scatterNd, 11);
  r.add("TopK", 1, 2, topK);
}

} // namespace dlc::onnx
