// Resize and Upsample: per axis, tables of source positions and weights from
// the coordinate mode and the filter, then one resampling. Coordinates are f32,
// as ONNX Runtime computes them.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Resample.h"

#include <cmath>

using namespace mlir;

namespace dlc::onnx {

namespace {

using Ints = NodeContext::Ints;

/// How one axis is resized. Vectors of one element; numbers where they are static.
struct AxisResize {
  int64_t axis = 0;
  Value in, out; // i64
  Value scale;   // f32
  std::optional<double> knownScale;
  Value length;  // f32: the resized length, whole when sizes are given
  bool isRatio = false;   // the scale is out / in
  Value roiStart, roiEnd; // f32; tf_crop_and_resize only
};

class Resizer {
public:
  explicit Resizer(NodeContext &c) : c(c), s{c}, f32(c.b.getF32Type()) {}

  LogicalResult run();

private:
  LogicalResult readAttributes();
  LogicalResult planAxes();
  LogicalResult planFromScales(Value scales);
  LogicalResult planFromSizes(Value sizes);
  void applyAspectPolicy();
  Value outputSize(const AxisResize &a);
  bool isRepetition(const AxisResize &a) const;
  Value repeat(Value x);
  Value coordinates(const AxisResize &a, Value index);
  Value nearestPositions(const AxisResize &a, Value x);
  Value filter(Value distance);
  Value clampToAxis(Value position, const AxisResize &a);
  Value interpolate(Value v, const AxisResize &a, Value x);
  Value resizeAxis(Value v, const AxisResize &a);

  // f32 or i64 arithmetic.
  Value number(double value) { return c.scalar(f32, value); }
  Value add(Value x, Value y) { return c.make<dl::AddOp>(x, y); }
  Value sub(Value x, Value y) { return c.make<dl::SubOp>(x, y); }
  Value mul(Value x, Value y) { return c.make<dl::MulOp>(x, y); }
  Value div(Value x, Value y) { return c.make<dl::DivOp>(x, y); }
  Value floor(Value x) { return c.make<dl::FloorOp>(x); }
  Value ceil(Value x) { return c.make<dl::CeilOp>(x); }
  Value select(Value condition, Value x, Value y) {
    return c.make<dl::SelectOp>(condition, x, y);
  }
  Value real(Value v) { return c.cast(v, f32); }

  NodeContext &c;
  ShapeTools s;
  Type f32;
  Value x;
  std::string mode, coordinateMode, nearestMode, aspectPolicy;
  double cubicA = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
  SmallVector<AxisResize> axes;
};

LogicalResult Resizer::readAttributes() {
  mode = c.stringAttr("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear")
    mode = "linear";
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return c.unsupported("mode '" + mode + "'");
  bool isOld = c.node.opType == "Upsample" || c.opset < 11;
  coordinateMode = isOld ? "asymmetric"
                         : c.stringAttr("coordinate_transformation_mode", "half_pixel");
  static constexpr StringLiteral kModes[] = {
      "asymmetric",         "half_pixel",    "half_pixel_symmetric",
      "pytorch_half_pixel", "align_corners", "tf_crop_and_resize",
      "tf_half_pixel_for_nn"};
  if (!llvm::is_contained(kModes, StringRef(coordinateMode)))
    return c.unsupported("coordinate_transformation_mode '" + coordinateMode + "'");
  nearestMode = isOld ? "simple" : c.stringAttr("nearest_mode", "round_prefer_floor");
  static constexpr StringLiteral kRoundings[] = {"simple", "floor", "ceil",
                                                 "round_prefer_floor", "round_prefer_ceil"};
  if (!llvm::is_contained(kRoundings, StringRef(nearestMode)))
    return c.unsupported("nearest_mode '" + nearestMode + "'");
  aspectPolicy = c.stringAttr("keep_aspect_ratio_policy", "stretch");
  static constexpr StringLiteral kPolicies[] = {"stretch", "not_larger", "not_smaller"};
  if (!llvm::is_contained(kPolicies, StringRef(aspectPolicy)))
    return c.unsupported("keep_aspect_ratio_policy '" + aspectPolicy + "'");
  cubicA = c.floatAttr("cubic_coeff_a", -0.75);
  extrapolation = c.floatAttr("extrapolation_value", 0);
  excludeOutside = c.intAttr("exclude_outside", 0) != 0;
  antialias = c.intAttr("antialias", 0) != 0 && mode != "nearest";
  return success();
}

/// floor(in * scale), kept symbolic where the scale is a simple fraction.
Value Resizer::outputSize(const AxisResize &a) {
  if (!a.knownScale)
    return c.cast(mul(real(a.in), a.scale), c.b.getI64Type());
  double scale = *a.knownScale;
  if (!c.type(x).isDynamicDim(a.axis))
    return c.ints({int64_t(float(c.type(x).getDimSize(a.axis)) * float(scale))});
  for (int64_t divisor = 1; divisor <= 64; divisor *= 2)
    if (double whole = scale * divisor; whole == std::floor(whole) && whole < 1e6)
      return div(mul(a.in, c.ints({int64_t(whole)})), c.ints({divisor}));
  return c.cast(mul(real(a.in), a.scale), c.b.getI64Type());
}

LogicalResult Resizer::planFromScales(Value scales) {
  if (s.length(scales) != int64_t(axes.size()))
    return c.invalid("has a number of scales that differs from its axes");
  auto known = c.constantFloats(scales);
  for (auto [i, a] : llvm::enumerate(axes)) {
    a.scale = real(s.pick(scales, {int64_t(i)}));
    if (known) {
      a.knownScale = (*known)[i];
      if (!(*a.knownScale > 0) || std::isinf(*a.knownScale))
        return c.invalid("has the scale " + Twine(int64_t((*known)[i])));
    }
    a.out = outputSize(a);
    a.length = mul(real(a.in), a.scale);
  }
  return success();
}

LogicalResult Resizer::planFromSizes(Value sizes) {
  if (s.length(sizes) != int64_t(axes.size()))
    return c.invalid("has a number of sizes that differs from its axes");
  auto known = c.constantInts(sizes);
  for (auto [i, a] : llvm::enumerate(axes)) {
    a.out = s.pick(sizes, {int64_t(i)});
    a.scale = div(real(a.out), real(a.in));
    a.length = real(a.out);
    a.isRatio = true;
    int64_t in = c.type(x).getDimSize(a.axis);
    if (known && in > 0)
      a.knownScale = double((*known)[i]) / double(in);
  }
  if (aspectPolicy != "stretch")
    applyAspectPolicy();
  return success();
}

/// One scale for all axes: the smallest or the largest asked for.
void Resizer::applyAspectPolicy() {
  bool smallest = aspectPolicy == "not_larger";
  std::optional<double> known = axes.front().knownScale;
  Value scale = axes.front().scale;
  for (const AxisResize &a : ArrayRef(axes).drop_front()) {
    scale = smallest ? c.make<dl::MinOp>(scale, a.scale) : c.make<dl::MaxOp>(scale, a.scale);
    if (known && a.knownScale)
      known = smallest ? std::min(*known, *a.knownScale) : std::max(*known, *a.knownScale);
    else
      known.reset();
  }
  for (AxisResize &a : axes) {
    a.scale = scale;
    a.length = mul(real(a.in), scale);
    a.isRatio = false;
    a.knownScale = known;
    int64_t in = c.type(x).getDimSize(a.axis);
    a.out = known ? c.ints({int64_t(*known * double(in) + 0.5)})
                  : c.cast(add(mul(real(a.in), scale), number(0.5)), c.b.getI64Type());
  }
}

LogicalResult Resizer::planAxes() {
  int64_t rank = c.rank(x);
  Ints all;
  for (int64_t i = 0; i < rank; ++i)
    all.push_back(i);
  auto chosen = c.normalizeAxes(c.intsAttr("axes", all), rank);
  if (failed(chosen))
    return failure();
  for (int64_t axis : *chosen) {
    axes.emplace_back();
    axes.back().axis = axis;
    axes.back().in = s.size(x, axis);
  }
  Value roi, scales, sizes;
  if (c.node.opType == "Upsample" && c.opset < 9) {
    SmallVector<double> given = c.floatsAttr("scales");
    SmallVector<float> values(given.begin(), given.end());
    auto type = RankedTensorType::get({int64_t(values.size())}, f32);
    scales = c.constant(DenseElementsAttr::get(type, ArrayRef(values)));
  } else if (c.node.opType == "Upsample" || c.opset < 11) {
    scales = c.input(1);
  } else {
    roi = c.input(1);
    scales = c.input(2);
    sizes = c.input(3);
  }
  // An empty tensor is how opset 11 leaves an input out.
  auto isEmpty = [&](Value v) { return v && c.rank(v) == 1 && c.type(v).getDimSize(0) == 0; };
  if (isEmpty(scales))
    scales = {};
  if (isEmpty(sizes))
    sizes = {};
  if (!scales == !sizes)
    return c.invalid("needs either scales or sizes");
  if (coordinateMode == "tf_crop_and_resize") {
    if (!roi || s.length(roi) != 2 * int64_t(axes.size()))
      return c.invalid("needs a roi with two numbers per axis");
    for (auto [i, a] : llvm::enumerate(axes)) {
      a.roiStart = real(s.pick(roi, {int64_t(i)}));
      a.roiEnd = real(s.pick(roi, {int64_t(i + axes.size())}));
    }
  }
  return scales ? planFromScales(scales) : planFromSizes(s.vector(sizes));
}

/// Upsampling by a whole number that repeats each element.
bool Resizer::isRepetition(const AxisResize &a) const {
  if (mode != "nearest" || !a.knownScale || *a.knownScale != std::floor(*a.knownScale) ||
      *a.knownScale < 1)
    return false;
  bool isFloor = nearestMode == "floor" || nearestMode == "simple";
  return (coordinateMode == "asymmetric" && isFloor) ||
         (coordinateMode == "half_pixel" && nearestMode == "round_prefer_floor");
}

// [..., d, ...] -> [..., d, 1, ...] -> [..., d, scale, ...] -> [..., d * scale, ...]
Value Resizer::repeat(Value v) {
  SmallVector<Value> split, repeated, merged;
  for (int64_t axis = 0; axis < c.rank(v); ++axis) {
    const auto *found = llvm::find_if(axes, [&](const AxisResize &a) { return a.axis == axis; });
    int64_t scale = found == axes.end() ? 1 : int64_t(*found->knownScale);
    Value size = s.size(v, axis), times = c.ints({scale});
    split.push_back(size);
    repeated.push_back(size);
    merged.push_back(scale == 1 ? size : mul(size, times));
    if (scale != 1) {
      split.push_back(c.ints({1}));
      repeated.push_back(times);
    }
  }
  Value wide = s.expandTo(s.reshapeTo(v, s.concat(split)), s.concat(repeated));
  return s.reshapeTo(wide, s.concat(merged));
}

/// Source coordinates of the output positions `index` (f32 vectors).
Value Resizer::coordinates(const AxisResize &a, Value index) {
  Value in = real(a.in), half = number(0.5), one = number(1);
  // Multiplying by the ratio's parts keeps exact ties exact.
  auto toSource = [&](Value v) {
    return a.isRatio ? div(mul(v, in), a.length) : div(v, a.scale);
  };
  auto halfPixel = [&] { return sub(toSource(add(index, half)), half); };
  if (coordinateMode == "asymmetric")
    return toSource(index);
  if (coordinateMode == "tf_half_pixel_for_nn")
    return toSource(add(index, half));
  if (coordinateMode == "pytorch_half_pixel")
    return select(s.compare("gt", a.out, c.ints({1})), halfPixel(), number(0));
  if (coordinateMode == "half_pixel_symmetric") {
    Value adjustment = div(real(a.out), a.length);
    Value offset = mul(mul(in, half), sub(one, adjustment));
    return add(offset, halfPixel());
  }
  Value isSingle = s.compare("eq", a.length, one);
  Value last = sub(in, one);
  Value steps = select(isSingle, one, sub(a.length, one));
  if (coordinateMode == "align_corners")
    return select(isSingle, number(0), div(mul(index, last), steps));
  if (coordinateMode == "tf_crop_and_resize") {
    Value extent = sub(a.roiEnd, a.roiStart);
    Value many = add(mul(a.roiStart, last), div(mul(mul(index, extent), last), steps));
    Value middle = mul(mul(add(a.roiStart, a.roiEnd), half), last);
    return select(isSingle, middle, many);
  }
  return halfPixel();
}

Value Resizer::nearestPositions(const AxisResize &a, Value x) {
  Value half = number(0.5);
  if (nearestMode == "floor")
    return floor(x);
  if (nearestMode == "ceil")
    return ceil(x);
  if (nearestMode == "simple") // Opset 10 and Upsample.
    return select(s.compare("lt", a.scale, number(1)), ceil(x), floor(x));
  return nearestMode == "round_prefer_ceil" ? floor(add(x, half)) : ceil(sub(x, half));
}

Value Resizer::clampToAxis(Value position, const AxisResize &a) {
  Value last = sub(a.in, c.ints({1}));
  return c.make<dl::MaxOp>(c.make<dl::MinOp>(position, last), c.ints({0}));
}

/// The weight of an element at a distance: a triangle, or Keys' cubic.
Value Resizer::filter(Value distance) {
  Value d = c.make<dl::AbsOp>(distance), one = number(1), zero = number(0);
  if (mode == "linear")
    return c.make<dl::MaxOp>(sub(one, d), zero);
  auto cubic = [&](double c3, double c2, double c1, double c0) {
    Value sum = add(mul(d, number(c3)), number(c2));
    sum = add(mul(sum, d), number(c1));
    return add(mul(sum, d), number(c0));
  };
  Value near = cubic(cubicA + 2, -(cubicA + 3), 0, 1);
  Value far = cubic(cubicA, -5 * cubicA, 8 * cubicA, -4 * cubicA);
  Value outer = select(s.compare("lt", d, number(2)), far, zero);
  return select(s.compare("le", d, one), near, outer);
}

Value Resizer::interpolate(Value v, const AxisResize &a, Value x) {
  double stretch = antialias ? std::min(*a.knownScale, 1.0) : 1.0;
  double support = mode == "linear" ? 1 : 2;
  int64_t first = int64_t(std::floor(-support / stretch)) + 1, taps = 2 - 2 * first;
  Value base = floor(x);
  Value offsets = add(s.iota(c.ints({taps})), c.ints({first}));
  Value fraction = c.reshape(sub(x, base), {-1, 1});
  Value distance = mul(sub(real(offsets), fraction), number(stretch));
  Value weights = filter(distance);
  Value positions = add(c.reshape(c.cast(base, c.b.getI64Type()), {-1, 1}), offsets);
  Value inside = clampToAxis(positions, a);
  if (excludeOutside)
    weights = select(s.compare("eq", positions, inside), weights, number(0));
  if (excludeOutside || antialias) {
    Value sum = s.slice(weights, 1, 0, 1);
    for (int64_t t = 1; t < taps; ++t)
      sum = add(sum, s.slice(weights, 1, t, t + 1));
    weights = div(weights, sum);
  }
  if (v && c.element(v).isF64())
    weights = c.cast(weights, c.element(v));
  return c.make<dl::InterpolateOp>(v, inside, weights, c.b.getI64IntegerAttr(a.axis));
}

Value Resizer::resizeAxis(Value v, const AxisResize &a) {
  Value index = real(s.iota(a.out));
  Value x = coordinates(a, index);
  Value result;
  if (mode == "nearest") {
    Value position = c.cast(nearestPositions(a, x), c.b.getI64Type());
    result = s.gather(v, clampToAxis(position, a), a.axis);
  } else {
    result = interpolate(v, a, x);
  }
  if (coordinateMode != "tf_crop_and_resize" || !result)
    return result;
  Value isOutside = c.make<dl::OrOp>(s.compare("lt", x, number(0)),
                                     s.compare("gt", x, sub(real(a.in), number(1))));
  Ints column(c.rank(result) - a.axis, 1);
  column[0] = -1;
  return select(c.reshape(isOutside, column),
                c.scalar(c.element(result), extrapolation), result);
}

LogicalResult Resizer::run() {
  x = c.input(0);
  if (failed(readAttributes()) || failed(planAxes()) || c.failed())
    return failure();
  if (antialias && llvm::any_of(axes, [](const AxisResize &a) { return !a.knownScale; }))
    return c.unsupported("antialias with scales that are not static");
  llvm::erase_if(axes, [&](const AxisResize &a) {
    return a.knownScale == 1.0 && coordinateMode != "tf_crop_and_resize";
  });
  if (llvm::all_of(axes, [&](const AxisResize &a) { return isRepetition(a); }))
    return c.done(axes.empty() ? x : repeat(x));
  Type element = c.element(x);
  bool needsFloat = mode != "nearest" && !isa<FloatType>(element);
  Value result = needsFloat ? c.cast(x, f32) : x;
  for (const AxisResize &a : axes)
    result = resizeAxis(result, a);
  return c.done(needsFloat ? c.cast(result, element) : result);
}

LogicalResult resize(NodeContext &c) { return Resizer(c).run(); }

} // namespace

void addResize(Registry &r) {
  r.add("Resize", 2, 4, resize, 10);
  r.add("Upsample", 1, 2, resize);
}

} // namespace dlc::onnx
