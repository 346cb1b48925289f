// Meanings and defaults as in PyTorch; always stable forms.

#include "passes/train/Losses.h"

#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {

namespace {

bool takesClasses(const LossOptions &options) {
  return options.kind == LossKind::Nll ||
         (options.kind == LossKind::CrossEntropy && !options.softTargets);
}

int64_t classAxis(Value output, const LossOptions &options) {
  int64_t rank = Emitter::type(output).getRank();
  return options.classAxis < 0 ? options.classAxis + rank : options.classAxis;
}

/// f32 for narrower floats.
Type computeType(Value output) {
  Type element = Emitter::element(output);
  return element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(output.getContext()) : element;
}

/// The targets that are not ignored, checked to be classes: what stands at that place in
/// 0, 1, ..., C - 1. A class below 0 is none; places below 0 would count from the end.
Value checkedClasses(Emitter &e, Value targets, Value iota, Value classCount) {
  Value isBelow = e.compare(dl::Comparison::lt, targets, e.integer(0));
  Value places = e.select(isBelow, classCount, targets);
  return e.make<dl::GatherOp>(iota, places, e.b.getI64IntegerAttr(0));
}

/// -sum(target's log-probability), over targets that are not ignored. With smoothing s
/// the target is (1 - s) of its class and s spread over all classes. The class is found by
/// comparing: that fuses, and its gradient scatters nothing.
LossValue fromClasses(Emitter &e, Value logProb, Value target, const LossOptions &options) {
  int64_t axis = classAxis(logProb, options), rank = Emitter::type(logProb).getRank();
  Value targets = e.unsqueeze(target, axis);
  Value isIgnored = e.compare(dl::Comparison::eq, targets, e.integer(options.ignoreIndex));
  Value classCount = e.size(logProb, axis), iota = e.iota(classCount);
  Value checked = checkedClasses(e, e.select(isIgnored, e.integer(0), targets), iota, classCount);
  SmallVector<int64_t> along(rank - axis, 1);
  along[0] = -1;
  Value isClass = e.compare(dl::Comparison::eq, checked, e.make<dl::ReshapeOp>(iota, e.ints(along)));
  Value picked = e.select(isClass, logProb, e.scalar(logProb, 0));
  Value loss = e.neg(e.reduce(dl::ReduceKind::sum, picked, {axis}, /*keepDims=*/true));
  if (options.labelSmoothing > 0) {
    Value spread = e.neg(e.reduce(dl::ReduceKind::mean, logProb, {axis}, /*keepDims=*/true));
    loss = e.add(e.mul(loss, 1 - options.labelSmoothing), e.mul(spread, options.labelSmoothing));
  }
  // Where the target is ignored, the loss is 0 even if the log is infinite.
  loss = e.select(isIgnored, e.scalar(logProb, 0), loss);
  Value counted = e.select(isIgnored, e.scalar(logProb, 0), e.scalar(logProb, 1));
  return {e.sumAll(loss), e.sumAll(counted)};
}

/// -sum(p log q) over rows; the mean is over rows, not elements.
LossValue fromProbabilities(Emitter &e, Value logProb, Value target, const LossOptions &options) {
  int64_t axis = classAxis(logProb, options);
  if (options.labelSmoothing > 0) {
    Value classes = e.cast(e.size(logProb, axis), Emitter::element(logProb));
    Value spread = e.div(e.scalar(logProb, options.labelSmoothing), classes);
    target = e.add(e.mul(target, 1 - options.labelSmoothing), spread);
  }
  Value rows = e.reduce(dl::ReduceKind::sum, e.mul(target, logProb), {axis}, /*keepDims=*/true);
  return {e.neg(e.sumAll(rows)), e.count(rows, Emitter::element(logProb))};
}

/// max(x, 0) - x y + ln(1 + e^-|x|)
Value bceWithLogits(Emitter &e, Value x, Value y) {
  Value tail = e.make<dl::Log1pOp>(e.make<dl::ExpOp>(e.neg(e.abs(x))));
  return e.add(e.sub(e.make<dl::ReluOp>(x), e.mul(x, y)), tail);
}

/// d^2 / 2 up to |d| = delta, then delta (|d| - delta / 2)
Value huber(Emitter &e, Value x, Value y, double delta) {
  Value distance = e.abs(e.sub(x, y));
  Value isNear = e.compare(dl::Comparison::le, distance, e.scalar(distance, delta));
  return e.select(isNear, e.mul(e.square(distance), 0.5),
                  e.mul(e.add(distance, -delta / 2), delta));
}

/// y (ln y - x), 0 where y = 0
Value klDivergence(Emitter &e, Value x, Value y) {
  Value isPositive = e.compare(dl::Comparison::gt, y, e.scalar(y, 0));
  Value safe = e.select(isPositive, y, e.scalar(y, 1));
  return e.select(isPositive, e.mul(y, e.sub(e.make<dl::LogOp>(safe), x)), e.scalar(y, 0));
}

Value elementLoss(Emitter &e, Value x, Value y, const LossOptions &options) {
  switch (options.kind) {
  case LossKind::BceWithLogits: return bceWithLogits(e, x, y);
  case LossKind::Mse: return e.square(e.sub(x, y));
  case LossKind::L1: return e.abs(e.sub(x, y));
  case LossKind::Huber: return huber(e, x, y, options.huberDelta);
  default: return klDivergence(e, x, y);
  }
}

} // namespace

FailureOr<TargetInfo> targetFor(Value output, const LossOptions &options) {
  RankedTensorType type = Emitter::type(output);
  if (!isa<FloatType>(type.getElementType()))
    return emitError(output.getLoc()) << "the loss is about an output of type " << type
                                      << "; it must hold floats";
  bool hasClasses = options.kind == LossKind::CrossEntropy || options.kind == LossKind::Nll;
  int64_t axis = classAxis(output, options);
  if (hasClasses && (axis < 0 || axis >= type.getRank()))
    return emitError(output.getLoc()) << "the class axis is " << options.classAxis
                                      << ", but the output has rank " << type.getRank();
  TargetInfo info;
  bool areClasses = takesClasses(options);
  info.element = areClasses ? Type(IntegerType::get(output.getContext(), 64)) : type.getElementType();
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!areClasses || i != axis)
      info.axes.push_back(i);
  return info;
}

LossValue emitLoss(Emitter &e, Value output, Value target, const LossOptions &options) {
  Value x = e.cast(output, computeType(output));
  if (options.kind == LossKind::CrossEntropy)
    x = e.make<dl::SoftmaxOp>(x, e.b.getI64IntegerAttr(classAxis(x, options)), e.b.getUnitAttr());
  if (takesClasses(options))
    return fromClasses(e, x, target, options);
  Value y = e.cast(target, Emitter::element(x));
  if (options.kind == LossKind::CrossEntropy)
    return fromProbabilities(e, x, y, options);
  Value loss = elementLoss(e, x, y, options);
  return {e.sumAll(loss), e.count(x, Emitter::element(x))};
}

} // namespace dlc
