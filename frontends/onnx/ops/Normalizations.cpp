// Normalisations as arithmetic: constants fold, the rest fuses.

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Pool.h"
#include "dialects/dl/ops/Reduce.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

struct Norm {
  NodeContext &c;
  Type wide; // f32 for narrow floats, so that sums do not overflow

  explicit Norm(NodeContext &c)
      : c(c), wide(c.element(c.input(0)).getIntOrFloatBitWidth() < 32
                       ? Type(c.b.getF32Type()) : c.element(c.input(0))) {}

  Value k(double v) { return c.scalar(wide, v); }
  Value add(Value a, Value b) { return c.make<dl::AddOp>(a, b); }
  Value sub(Value a, Value b) { return c.make<dl::SubOp>(a, b); }
  Value mul(Value a, Value b) { return c.make<dl::MulOp>(a, b); }
  Value widen(Value v) { return v ? c.cast(v, wide) : v; }
  Value rsqrt(Value v) { return c.make<dl::RsqrtOp>(v); }
  Value mean(Value v, ArrayRef<int64_t> axes) {
    return c.make<dl::ReduceOp>(v, dl::ReduceKindAttr::get(c.b.getContext(), dl::ReduceKind::mean),
                                c.array(axes), c.b.getBoolAttr(true));
  }
  /// A vector along axis 1 of a tensor of the given rank.
  Value alongChannels(Value v, int64_t rank) {
    SmallVector<int64_t> shape(rank - 1, 1);
    shape[0] = -1;
    return v ? c.reshape(widen(v), shape) : v;
  }
  /// (x - mean) / sqrt(variance + epsilon) over `axes`; two passes, so a
  /// constant row has the variance 0 and no rounding can make it negative.
  Value normalize(Value x, ArrayRef<int64_t> axes, double epsilon, Value *meanOut = nullptr,
                  Value *inverseOut = nullptr) {
    Value average = mean(x, axes);
    Value centred = sub(x, average);
    Value inverse = rsqrt(add(mean(mul(centred, centred), axes), k(epsilon)));
    if (meanOut)
      *meanOut = average;
    if (inverseOut)
      *inverseOut = inverse;
    return mul(centred, inverse);
  }
};

SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t axis = first; axis < rank; ++axis)
    axes.push_back(axis);
  return axes;
}

/// Statistics of the batch itself, and the running ones moved towards them.
LogicalResult trainedBatchNormalization(NodeContext &c) {
  Norm n(c);
  Value x = n.widen(c.input(0));
  int64_t rank = c.rank(x);
  SmallVector<int64_t> axes = axesFrom(2, rank);
  axes.insert(axes.begin(), 0);
  Value average = n.mean(x, axes), centred = n.sub(x, average);
  Value variance = n.mean(n.mul(centred, centred), axes);
  Value y = n.mul(centred, n.rsqrt(n.add(variance, n.k(c.floatAttr("epsilon", 1e-5)))));
  y = n.add(n.mul(y, n.alongChannels(c.input(1), rank)), n.alongChannels(c.input(2), rank));
  double momentum = c.floatAttr("momentum", 0.9);
  Value batch[] = {average, variance};
  for (size_t i : {0, 1}) {
    if (!c.wants(i + 1) && c.mode() != ImportMode::Training)
      continue;
    Value old = c.input(i + 3), now = c.reshape(batch[i], {-1});
    Value moved = n.add(n.mul(n.widen(old), n.k(momentum)), n.mul(now, n.k(1 - momentum)));
    Value updated = c.cast(moved, c.element(old));
    c.setOutput(i + 1, updated);
    c.updateWeight(old, updated);
  }
  return c.done(c.cast(y, c.element(c.input(0))));
}

/// x * s + (bias - mean * s), s = scale / sqrt(variance + epsilon): with
/// constant parameters one multiply-add that folds into a convolution.
LogicalResult batchNormalization(NodeContext &c) {
  if (c.numInputs() != 5)
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 5");
  c.markStatistic(c.input(3)), c.markStatistic(c.input(4));
  if (c.rank(c.input(0)) >= 2 && c.intAttr("training_mode", 0) && c.mode() != ImportMode::Inference)
    return trainedBatchNormalization(c);
  c.ignoreAttr("momentum"); // of the running statistics, which stay as they are
  for (size_t i : {1, 2})
    if (c.mode() == ImportMode::Inference)
      c.setOutput(i, c.input(i + 2));
  if (c.opset < 7 && c.has("is_test") && !c.intAttr("is_test", 0))
    return c.unsupported("training_mode");
  if (c.opset < 9 && !c.intAttr("spatial", 1))
    return c.unsupported("spatial = 0");
  Value x = c.input(0);
  if (c.rank(x) < 2)
    return c.invalid("input has rank " + Twine(c.rank(x)) + ", expects 2 or more");
  Norm n(c);
  auto parameter = [&](size_t i) { return n.alongChannels(c.input(i), c.rank(x)); };
  Value scale = n.mul(parameter(1), n.rsqrt(n.add(parameter(4), n.k(c.floatAttr("epsilon", 1e-5)))));
  Value offset = n.sub(parameter(2), n.mul(parameter(3), scale));
  return c.done(c.cast(n.add(n.mul(n.widen(x), scale), offset), c.element(x)));
}

LogicalResult layerNormalization(NodeContext &c) {
  Value x = c.input(0);
  if (!x || !c.input(1))
    return c.invalid("needs an input and a scale");
  if (c.intAttr("stash_type", 1) != 1)
    return c.unsupported("attribute 'stash_type' other than 1 (float)");
  auto axis = c.normalizeAxis(c.intAttr("axis", -1), c.rank(x));
  if (failed(axis))
    return failure();
  Norm n(c);
  Value average, inverse;
  Value y = n.normalize(n.widen(x), axesFrom(*axis, c.rank(x)), c.floatAttr("epsilon", 1e-5),
                        &average, &inverse);
  y = n.mul(c.cast(y, c.element(x)), c.input(1));
  if (Value bias = c.input(2))
    y = n.add(y, bias);
  if (c.wants(1))
    c.setOutput(1, average);
  if (c.wants(2))
    c.setOutput(2, inverse);
  return c.done(y);
}

LogicalResult rmsNormalization(NodeContext &c) {
  Value x = c.input(0);
  if (!x || !c.input(1))
    return c.invalid("needs an input and a scale");
  if (c.intAttr("stash_type", 1) != 1)
    return c.unsupported("attribute 'stash_type' other than 1 (float)");
  auto axis = c.normalizeAxis(c.intAttr("axis", -1), c.rank(x));
  if (failed(axis))
    return failure();
  Norm n(c);
  Value wide = n.widen(x);
  Value power = n.mean(n.mul(wide, wide), axesFrom(*axis, c.rank(x)));
  Value y = n.mul(wide, n.rsqrt(n.add(power, n.k(c.floatAttr("epsilon", 1e-5)))));
  return c.done(n.mul(c.cast(y, c.element(x)), c.input(1)));
}

LogicalResult instanceNormalization(NodeContext &c) {
  Value x = c.input(0);
  if (c.numInputs() != 3 || c.rank(x) < 3)
    return c.invalid("needs three inputs, the first of rank 3 or more");
  Norm n(c);
  Value y = n.normalize(n.widen(x), axesFrom(2, c.rank(x)), c.floatAttr("epsilon", 1e-5));
  y = n.add(n.mul(y, n.alongChannels(c.input(1), c.rank(x))),
            n.alongChannels(c.input(2), c.rank(x)));
  return c.done(c.cast(y, c.element(x)));
}

LogicalResult groupNormalization(NodeContext &c) {
  Value x = c.input(0);
  if (c.numInputs() != 3 || c.rank(x) < 3)
    return c.invalid("needs three inputs, the first of rank 3 or more");
  if (c.intAttr("stash_type", 1) != 1)
    return c.unsupported("attribute 'stash_type' other than 1 (float)");
  int64_t groups = c.intAttr("num_groups", 0), channels = c.type(x).getDimSize(1);
  if (groups < 1 || ShapedType::isDynamic(channels) || channels % groups != 0)
    return c.invalid("num_groups " + Twine(groups) + " does not divide the channels");
  if (!c.type(x).hasStaticShape())
    return c.unsupported("an input of symbolic shape");
  ArrayRef<int64_t> shape = c.type(x).getShape();
  SmallVector<int64_t> grouped = {shape[0], groups, channels / groups};
  llvm::append_range(grouped, shape.drop_front(2));
  Norm n(c);
  Value y = n.normalize(c.reshape(n.widen(x), grouped), axesFrom(2, grouped.size()),
                        c.floatAttr("epsilon", 1e-5));
  // From opset 21 on there is a scale per channel, before one per group.
  bool perGroup = c.type(c.input(1)).getDimSize(0) == groups && groups != channels;
  if (!perGroup)
    y = c.reshape(y, shape);
  int64_t rank = perGroup ? grouped.size() : shape.size();
  y = n.add(n.mul(y, n.alongChannels(c.input(1), rank)), n.alongChannels(c.input(2), rank));
  if (perGroup)
    y = c.reshape(y, shape);
  return c.done(c.cast(y, c.element(x)));
}

/// x / (bias + alpha / size * (sum of squares of `size` channels around))^beta: a
/// pooling whose windows slide along the channels.
LogicalResult localResponseNormalization(NodeContext &c) {
  Value x = c.input(0);
  int64_t size = c.intAttr("size", 0);
  if (c.rank(x) < 2 || size < 1 || size > (1 << 20))
    return c.invalid("size is " + Twine(size) + " for an input of rank " + Twine(c.rank(x)));
  Norm n(c);
  Value wide = n.widen(x), shape = c.shapeOf(x), one = c.ints({1});
  SmallVector<Value> parts = {c.slice(shape, 0, 1), one, c.slice(shape, 1, 2), c.ints({-1})};
  if (c.failed())
    return failure();
  Value planes = c.reshape(wide, c.make<dl::ConcatOp>(ValueRange(parts), c.b.getI64IntegerAttr(0)));
  int64_t before = (size - 1) / 2, after = size - 1 - before;
  auto kind = dl::ReduceKindAttr::get(c.b.getContext(), dl::ReduceKind::sum_square);
  Value sums = c.make<dl::PoolOp>(planes, kind, c.array({size, 1}), c.array({1, 1}), c.array({1, 1}),
                                  c.array({before, 0, after, 0}), c.b.getBoolAttr(false),
                                  c.b.getBoolAttr(false), UnitAttr());
  sums = c.reshape(sums, shape);
  Value base = n.add(n.mul(sums, n.k(c.floatAttr("alpha", 1e-4) / double(size))),
                     n.k(c.floatAttr("bias", 1)));
  Value divisor = c.make<dl::PowOp>(base, n.k(c.floatAttr("beta", 0.75)));
  return c.done(c.cast(c.make<dl::DivOp>(wide, divisor), c.element(x)));
}

LogicalResult meanVarianceNormalization(NodeContext &c) {
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  auto axes = c.normalizeAxes(c.intsAttr("axes", {0, 2, 3}), c.rank(x));
  if (failed(axes))
    return failure();
  // ONNX's own definition: (x - mean) / (sqrt(E[x^2] - mean^2) + 1e-9).
  Norm n(c);
  Value wide = n.widen(x), average = n.mean(wide, *axes);
  Value centred = n.sub(wide, average);
  Value deviation = c.make<dl::SqrtOp>(n.mean(n.mul(centred, centred), *axes));
  return c.done(c.cast(c.make<dl::DivOp>(centred, n.add(deviation, n.k(1e-9))), c.element(x)));
}

LogicalResult lpNormalization(NodeContext &c) {
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  auto axis = c.normalizeAxis(c.intAttr("axis", -1), c.rank(x));
  int64_t p = c.intAttr("p", 2);
  if (failed(axis))
    return failure();
  if (p != 1 && p != 2)
    return c.invalid("p is " + Twine(p) + ", expects 1 or 2");
  auto kind = p == 1 ? dl::ReduceKind::sum : dl::ReduceKind::sum_square;
  // Squares of 16 bits overflow, and are rounded, before the root is taken.
  Type element = c.element(x);
  if (element.getIntOrFloatBitWidth() < 32)
    x = c.cast(x, c.b.getF32Type());
  Value norm = c.make<dl::ReduceOp>(p == 1 ? c.make<dl::AbsOp>(x) : x,
                                    dl::ReduceKindAttr::get(c.b.getContext(), kind),
                                    c.array({*axis}), c.b.getBoolAttr(true));
  if (p == 2)
    norm = c.make<dl::SqrtOp>(norm);
  // A norm of 0 gives 0, not NaN.
  Value zero = c.scalar(c.element(x), 0);
  Value isZero = c.make<dl::CompareOp>(norm, zero, dl::ComparisonAttr::get(c.b.getContext(), dl::Comparison::eq));
  Value safe = c.make<dl::SelectOp>(isZero, c.scalar(c.element(x), 1), norm);
  return c.done(c.cast(c.make<dl::DivOp>(x, safe), element));
}

} // namespace

void addNormalizations(Registry &r) {
  r.add("LRN", 1, 1, localResponseNormalization);
  r["BatchNormalization"] = batchNormalization;
  r["GroupNormalization"] = groupNormalization;
  r["InstanceNormalization"] = instanceNormalization;
  r["LayerNormalization"] = layerNormalization;
  r["LpNormalization"] = lpNormalization;
  r["MeanVarianceNormalization"] = meanVarianceNormalization;
  r["RMSNormalization"] = rmsNormalization;
}

} // namespace dlc::onnx
