// Ops that sample images at computed places, and box selection.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Detection.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"

#include <limits>

using namespace mlir;

namespace dlc::onnx {

namespace {

using Ints = NodeContext::Ints;

/// Arithmetic on tensors of one float type.
struct Formula {
  NodeContext &c;
  Type type;
  Value number(double value) { return c.scalar(type, value); }
  Value add(Value x, Value y) { return c.make<dl::AddOp>(x, y); }
  Value sub(Value x, Value y) { return c.make<dl::SubOp>(x, y); }
  Value mul(Value x, Value y) { return c.make<dl::MulOp>(x, y); }
  Value div(Value x, Value y) { return c.make<dl::DivOp>(x, y); }
  Value floor(Value x) { return c.make<dl::FloorOp>(x); }
  Value min(Value x, Value y) { return c.make<dl::MinOp>(x, y); }
  Value max(Value x, Value y) { return c.make<dl::MaxOp>(x, y); }
  Value select(Value condition, Value x, Value y) { return c.make<dl::SelectOp>(condition, x, y); }
};

/// One neighbour along one axis: its index (i64), its weight (null: 1), and
/// whether it lies in the image (null: it does).
struct Tap {
  Value index, weight, isInside;
};

class GridSampler {
public:
  explicit GridSampler(NodeContext &c)
      : c(c), s{c}, f{c, c.element(c.input(1))}, x(c.input(0)), grid(c.input(1)) {}
  LogicalResult run();

private:
  Value coordinate(int64_t axis);
  Value reflect(Value position, Value length);
  Value cubicWeight(Value distance);
  SmallVector<Tap> taps(int64_t axis);
  Tap tapAt(Value position, Value weight, Value length);
  Value sample(ArrayRef<const Tap *> chosen, Value image);

  NodeContext &c;
  ShapeTools s;
  Formula f;
  Value x, grid;
  std::string mode, padding;
  bool alignCorners = false;
  int64_t spatial = 0;
};

/// The position along a spatial axis, in elements. The grid names the last
/// axis first and measures the image from -1 to 1.
Value GridSampler::coordinate(int64_t axis) {
  int64_t last = spatial + 1, column = spatial - 1 - axis;
  Value g = s.dropAxis(s.slice(grid, last, column, column + 1), last);
  Value length = c.cast(s.toScalar(s.size(x, 2 + axis)), f.type);
  Value fromEdge = f.add(g, f.number(1));
  if (alignCorners)
    return f.mul(f.mul(fromEdge, f.number(0.5)), f.sub(length, f.number(1)));
  return f.mul(f.sub(f.mul(fromEdge, length), f.number(1)), f.number(0.5));
}

/// The image repeats mirrored at its borders: a triangular wave.
Value GridSampler::reflect(Value position, Value length) {
  Value lower = f.number(alignCorners ? 0 : -0.5);
  Value range = alignCorners ? f.sub(length, f.number(1)) : length;
  Value safe = f.max(range, f.number(0.5)); // An image of one element has no range.
  Value twice = f.add(safe, safe);
  Value rest = c.make<dl::ModOp>(f.sub(position, lower), twice);
  return f.add(lower, f.min(rest, f.sub(twice, rest)));
}

Tap GridSampler::tapAt(Value position, Value weight, Value length) {
  Value last = f.sub(length, f.number(1));
  Value moved = padding == "reflection" ? reflect(position, length) : position;
  Value clamped = f.max(f.min(moved, last), f.number(0));
  Tap tap{c.cast(clamped, c.b.getI64Type()), weight, {}};
  if (padding == "zeros")
    tap.isInside = s.compare("eq", clamped, position);
  return tap;
}

/// Keys' cubic with a = -0.75.
Value GridSampler::cubicWeight(Value distance) {
  Value d = c.make<dl::AbsOp>(distance);
  auto cubic = [&](double c3, double c2, double c1, double c0) {
    Value sum = f.add(f.mul(d, f.number(c3)), f.number(c2));
    return f.add(f.mul(f.add(f.mul(sum, d), f.number(c1)), d), f.number(c0));
  };
  return f.select(s.compare("le", d, f.number(1)), cubic(1.25, -2.25, 0, 1),
                  cubic(-0.75, 3.75, -6, 3));
}

SmallVector<Tap> GridSampler::taps(int64_t axis) {
  Value at = coordinate(axis);
  Value length = c.cast(s.toScalar(s.size(x, 2 + axis)), f.type);
  if (mode == "nearest")
    return {tapAt(c.make<dl::RoundOp>(at), {}, length)};
  Value base = f.floor(at), fraction = f.sub(at, base);
  SmallVector<Tap> result;
  if (mode == "linear") {
    result.push_back(tapAt(base, f.sub(f.number(1), fraction), length));
    result.push_back(tapAt(f.add(base, f.number(1)), fraction, length));
    return result;
  }
  for (int64_t t = -1; t <= 2; ++t)
    result.push_back(tapAt(f.add(base, f.number(t)),
                           cubicWeight(f.sub(f.number(t), fraction)), length));
  return result;
}

/// One neighbour's elements for all channels, weighted: [N, outputs..., C].
Value GridSampler::sample(ArrayRef<const Tap *> chosen, Value image) {
  SmallVector<Value> indices;
  Value weight, isInside;
  for (const Tap *tap : chosen) {
    indices.push_back(tap->index);
    if (!tap->index)
      return {};
    if (tap->weight)
      weight = weight ? f.mul(weight, tap->weight) : tap->weight;
    if (tap->isInside)
      isInside = isInside ? c.make<dl::AndOp>(isInside, tap->isInside) : tap->isInside;
  }
  Value v = c.make<dl::GatherNdOp>(image, ValueRange(indices), c.b.getI64IntegerAttr(1));
  if (weight)
    v = c.make<dl::MulOp>(v, s.unsqueeze(c.cast(weight, c.element(x)), spatial + 1));
  if (isInside)
    v = c.make<dl::SelectOp>(s.unsqueeze(isInside, spatial + 1), v, c.scalar(c.element(x), 0));
  return v;
}

LogicalResult GridSampler::run() {
  mode = c.stringAttr("mode", "linear");
  mode = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
  padding = c.stringAttr("padding_mode", "zeros");
  alignCorners = c.intAttr("align_corners", 0) != 0;
  spatial = c.rank(x) - 2;
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return c.unsupported("mode '" + mode + "'");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return c.unsupported("padding_mode '" + padding + "'");
  if (spatial < 1 || c.rank(grid) != spatial + 2 ||
      c.type(grid).getDimSize(spatial + 1) != spatial)
    return c.invalid("has a grid that does not fit its input");
  if (spatial > 3 || (mode == "cubic" && spatial > 2))
    return c.unsupported(Twine(spatial) + " spatial axes");
  if (!c.isFloat(x))
    return c.unsupported("an input that is not float");
  SmallVector<SmallVector<Tap>> all;
  for (int64_t axis = 0; axis < spatial; ++axis)
    all.push_back(taps(axis));
  Ints channelsLast = {0}, channelsFirst = {0, spatial + 1};
  for (int64_t axis = 0; axis < spatial; ++axis) {
    channelsLast.push_back(axis + 2);
    channelsFirst.push_back(axis + 1);
  }
  channelsLast.push_back(1);
  Value image = c.transpose(x, channelsLast), sum;
  // Every combination of one tap per axis.
  int64_t combinations = 1;
  for (const SmallVector<Tap> &list : all)
    combinations *= list.size();
  for (int64_t i = 0; i < combinations; ++i) {
    SmallVector<const Tap *> chosen;
    int64_t rest = i;
    for (const SmallVector<Tap> &list : all) {
      chosen.push_back(&list[rest % list.size()]);
      rest /= list.size();
    }
    Value v = sample(chosen, image);
    sum = sum ? c.make<dl::AddOp>(sum, v) : v;
  }
  return sum ? c.done(c.transpose(sum, channelsFirst)) : failure();
}

LogicalResult gridSample(NodeContext &c) { return GridSampler(c).run(); }

/// Positions from -1 to 1: of the elements' centres, or of both ends.
Value normalizedPositions(Formula &f, ShapeTools &s, Value size, bool alignCorners) {
  NodeContext &c = f.c;
  Value index = c.cast(s.iota(size), f.type), length = c.cast(size, f.type);
  Value two = f.number(2), one = f.number(1);
  if (alignCorners) {
    Value steps = f.max(f.sub(length, one), one);
    return f.sub(f.div(f.mul(index, two), steps), one);
  }
  return f.sub(f.div(f.add(f.mul(index, two), one), length), one);
}

// grid[n, o..., j] = sum over m of theta[n, j, m] * position_m[o] + theta[n, j, k]
LogicalResult affineGrid(NodeContext &c) {
  ShapeTools s{c};
  Value theta = c.input(0), size = s.vector(c.input(1));
  auto length = size ? s.length(size) : std::nullopt;
  if (!length || (*length != 4 && *length != 5) || c.rank(theta) != 3)
    return c.invalid("needs a theta of rank 3 and 4 or 5 sizes");
  Formula f{c, c.element(theta)};
  int64_t spatial = *length - 2;
  bool alignCorners = c.intAttr("align_corners", 0) != 0;
  SmallVector<Value> rows;
  auto entry = [&](int64_t row, int64_t column) {
    Value v = s.slice(s.slice(theta, 1, row, row + 1), 2, column, column + 1);
    Ints shape(spatial + 1, 1);
    shape[0] = -1;
    return c.reshape(v, shape);
  };
  for (int64_t row = 0; row < spatial; ++row) {
    Value sum = entry(row, spatial);
    for (int64_t m = 0; m < spatial; ++m) {
      int64_t axis = spatial - 1 - m; // The last axis comes first.
      Value position = normalizedPositions(f, s, s.pick(size, {2 + axis}), alignCorners);
      Ints shape(spatial - axis, 1);
      shape[0] = -1;
      sum = f.add(sum, f.mul(entry(row, m), c.reshape(position, shape)));
    }
    rows.push_back(s.unsqueeze(sum, spatial + 1));
  }
  return c.done(s.concat(rows, spatial + 1));
}

LogicalResult nonMaxSuppression(NodeContext &c) {
  ShapeTools s{c};
  Type f32 = c.b.getF32Type();
  auto scalarInput = [&](size_t i, double fallback) {
    return c.hasInput(i) ? s.toScalar(c.input(i)) : c.scalar(f32, fallback);
  };
  Value limit = c.hasInput(2) ? s.vector(c.input(2)) : c.ints({0});
  Value overlap = scalarInput(3, 0);
  Value threshold = scalarInput(4, -std::numeric_limits<double>::infinity());
  UnitAttr isCentered = c.intAttr("center_point_box", 0) ? c.b.getUnitAttr() : UnitAttr();
  SmallVector<Value> found = c.makeMulti<dl::NonMaxSuppressionOp>(
      2, c.input(0), c.input(1), limit, overlap, threshold, isCentered);
  return c.done(s.slice(found[0], 0, c.ints({0}), found[1]));
}

} // namespace

void addVision(Registry &r) {
  r.add("AffineGrid", 2, 2, affineGrid, 20);
  r.add("GridSample", 2, 2, gridSample, 16);
  r.add("NonMaxSuppression", 2, 5, nonMaxSuppression, 10);
}

} // namespace dlc::onnx
