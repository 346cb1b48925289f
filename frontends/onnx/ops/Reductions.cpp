// Reductions, arg-reductions and softmax, with the history of their axes.

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Reduce.h"

#include <numeric>

using namespace mlir;

namespace dlc::onnx {

namespace {

/// Axes from the attribute (older opsets) or the second input (newer ones). An
/// empty list means all axes, or with noop_with_empty_axes none.
FailureOr<SmallVector<int64_t>> readAxes(NodeContext &c, Value x, bool &isNoop) {
  SmallVector<int64_t> axes = c.intsAttr("axes");
  if (Value input = c.input(1)) {
    auto known = c.constantInts(input);
    if (!known) {
      (void)c.unsupported("axes that are computed or a model input");
      return failure();
    }
    axes = *known;
  }
  isNoop = c.intAttr("noop_with_empty_axes", 0) && axes.empty();
  if (axes.empty() && !isNoop)
    for (int64_t axis = 0; axis < c.rank(x); ++axis)
      axes.push_back(axis);
  return c.normalizeAxes(axes, c.rank(x));
}

struct Reduction {
  NodeContext &c;
  SmallVector<int64_t> axes;
  bool keepDims;

  Value reduce(Value x, dl::ReduceKind kind) {
    if (!x || axes.empty())
      return x && kind == dl::ReduceKind::sum_square ? c.make<dl::MulOp>(x, x) : x;
    return c.make<dl::ReduceOp>(x, dl::ReduceKindAttr::get(c.b.getContext(), kind),
                                c.array(axes), c.b.getBoolAttr(keepDims));
  }
};

template <Value (*formula)(Reduction &, Value)> LogicalResult reduction(NodeContext &c) {
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  bool isNoop = false;
  auto axes = readAxes(c, x, isNoop);
  if (failed(axes))
    return failure();
  Reduction r{c, *axes, c.intAttr("keepdims", 1) != 0};
  return c.done(formula(r, x));
}

template <dl::ReduceKind kind> Value plain(Reduction &r, Value x) { return r.reduce(x, kind); }
Value l1(Reduction &r, Value x) {
  return r.reduce(r.c.make<dl::AbsOp>(x), dl::ReduceKind::sum);
}
Value l2(Reduction &r, Value x) {
  Value sum = r.reduce(x, dl::ReduceKind::sum_square);
  if (!sum || r.c.isFloat(sum))
    return r.c.make<dl::SqrtOp>(sum);
  Type wide = r.c.b.getF64Type();
  return r.c.cast(r.c.make<dl::SqrtOp>(r.c.cast(sum, wide)), r.c.element(x));
}
Value logOf(Reduction &r, Value v) {
  if (!v || r.c.isFloat(v))
    return r.c.make<dl::LogOp>(v);
  return r.c.cast(r.c.make<dl::LogOp>(r.c.cast(v, r.c.b.getF64Type())), r.c.element(v));
}
Value logSum(Reduction &r, Value x) { return logOf(r, r.reduce(x, dl::ReduceKind::sum)); }
/// max + ln(sum(e^(x - max))), stable.
Value logSumExp(Reduction &r, Value x) {
  Reduction kept{r.c, r.axes, true};
  // Integers: all of it in f64, rounded toward 0 once.
  if (x && !r.c.isFloat(x))
    return r.c.cast(logSumExp(r, r.c.cast(x, r.c.b.getF64Type())), r.c.element(x));
  Value most = kept.reduce(x, dl::ReduceKind::max);
  // A row of -inf (or none) has no finite maximum; subtract 0 there.
  Value isFinite = r.c.make<dl::CompareOp>(
      r.c.make<dl::AbsOp>(most),
      r.c.scalar(r.c.element(x), std::numeric_limits<double>::infinity()),
      dl::ComparisonAttr::get(r.c.b.getContext(), dl::Comparison::lt));
  Value shift = r.c.make<dl::SelectOp>(isFinite, most, r.c.scalar(r.c.element(x), 0));
  Value sum = r.reduce(r.c.make<dl::ExpOp>(r.c.make<dl::SubOp>(x, shift)), dl::ReduceKind::sum);
  return r.c.make<dl::AddOp>(r.c.make<dl::LogOp>(sum), r.reduce(shift, dl::ReduceKind::max));
}

/// Several steps of 16 bits would round, and overflow, between them.
template <Value (*formula)(Reduction &, Value)> Value widened(Reduction &r, Value x) {
  if (!x || !r.c.isFloat(x) || r.c.element(x).getIntOrFloatBitWidth() >= 32)
    return formula(r, x);
  return r.c.cast(formula(r, r.c.cast(x, r.c.b.getF32Type())), r.c.element(x));
}

template <bool largest> LogicalResult argReduce(NodeContext &c) {
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  auto axis = c.normalizeAxis(c.intAttr("axis", 0), c.rank(x));
  if (failed(axis))
    return failure();
  return c.done(c.make<dl::ArgReduceOp>(
      x, c.b.getI64IntegerAttr(*axis), c.b.getBoolAttr(c.intAttr("keepdims", 1)),
      c.b.getBoolAttr(largest), c.b.getBoolAttr(c.intAttr("select_last_index", 0))));
}

/// Before opset 13 the axes from `axis` on are one.
template <bool isLog> LogicalResult softmax(NodeContext &c) {
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  bool flattens = c.opset < 13;
  int64_t rank = c.rank(x);
  auto axis = c.normalizeAxis(c.intAttr("axis", flattens ? 1 : -1), std::max<int64_t>(rank, 1));
  if (failed(axis))
    return failure();
  UnitAttr log = isLog ? c.b.getUnitAttr() : UnitAttr();
  auto apply = [&](Value v, int64_t along) {
    return c.make<dl::SoftmaxOp>(v, c.b.getI64IntegerAttr(along), log);
  };
  if (!flattens || *axis == rank - 1)
    return c.done(apply(x, *axis));
  ArrayRef<int64_t> shape = c.type(x).getShape();
  auto product = [](ArrayRef<int64_t> sizes) {
    return llvm::is_contained(sizes, ShapedType::kDynamic)
               ? -1 : std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  };
  int64_t outer = product(shape.take_front(*axis)), inner = product(shape.drop_front(*axis));
  if (std::min(outer, inner) < 0 && std::max(outer, inner) <= 0)
    return c.unsupported("flattening symbolic sizes on both sides of the axis, or beside a size "
                         "of 0 (opset < 13)");
  Value original = c.make<dl::ShapeOfOp>(x);
  Value y = apply(c.reshape(x, {outer, inner}), 1);
  return c.done(c.make<dl::ReshapeOp>(y, original));
}

} // namespace

void addReductions(Registry &r) {
  r["ArgMax"] = argReduce<true>;
  r["ArgMin"] = argReduce<false>;
  r["LogSoftmax"] = softmax<true>;
  r["ReduceL1"] = reduction<l1>;
  r["ReduceL2"] = reduction<widened<l2>>;
  r["ReduceLogSum"] = reduction<widened<logSum>>;
  r["ReduceLogSumExp"] = reduction<widened<logSumExp>>;
  r["ReduceMax"] = reduction<plain<dl::ReduceKind::max>>;
  r["ReduceMean"] = reduction<plain<dl::ReduceKind::mean>>;
  r["ReduceMin"] = reduction<plain<dl::ReduceKind::min>>;
  r["ReduceProd"] = reduction<plain<dl::ReduceKind::prod>>;
  r["ReduceSum"] = reduction<plain<dl::ReduceKind::sum>>;
  r["ReduceSumSquare"] = reduction<plain<dl::ReduceKind::sum_square>>;
  r["Softmax"] = softmax<false>;
}

} // namespace dlc::onnx
