// Formulas and their order of operations as in PyTorch. What depends on the step alone
// is computed in f64 and rounded once.

#include "passes/train/Optimizers.h"

#include "passes/train/Parameters.h"

using namespace mlir;

namespace dlc {

SmallVector<StringRef> momentsOf(const OptimizerOptions &options) {
  bool hasMomentum = options.momentum != 0;
  switch (options.kind) {
  case OptimizerKind::Sgd:
    return hasMomentum ? SmallVector<StringRef>{"momentum_buffer"} : SmallVector<StringRef>();
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW: return {"exp_avg", "exp_avg_sq"};
  case OptimizerKind::RmsProp:
    return hasMomentum ? SmallVector<StringRef>{"square_avg", "momentum_buffer"}
                       : SmallVector<StringRef>{"square_avg"};
  case OptimizerKind::Adagrad: return {"sum"};
  case OptimizerKind::Lion: return {"exp_avg"};
  }
  return {};
}

double initialMoment(const OptimizerOptions &options) {
  return options.kind == OptimizerKind::Adagrad ? options.initialAccumulator : 0;
}

Optimizer::Optimizer(Emitter &e, const OptimizerOptions &options, Value learningRate, Value step)
    : e(e), options(options), learningRate(learningRate), step(step) {
  Type f64 = e.b.getF64Type();
  bool decouples = options.kind == OptimizerKind::AdamW || options.kind == OptimizerKind::Lion;
  if (decouples && options.weightDecay != 0)
    decayFactor = e.sub(e.scalar(f64, 1), e.mul(learningRate, options.weightDecay));
  if (options.kind == OptimizerKind::Adam || options.kind == OptimizerKind::AdamW) {
    stepSize = e.div(learningRate, biasCorrection(options.beta1));
    rootOfBias = e.sqrt(biasCorrection(options.beta2));
  } else if (options.kind == OptimizerKind::Adagrad) {
    Value before = e.sub(e.cast(step, f64), e.scalar(f64, 1));
    stepSize = e.div(learningRate, e.add(e.mul(before, options.learningRateDecay), 1.0));
  }
}

Value Optimizer::biasCorrection(double beta) {
  Type f64 = e.b.getF64Type();
  Value power = e.make<dl::PowOp>(e.scalar(f64, beta), e.cast(step, f64));
  return e.sub(e.scalar(f64, 1), power);
}

double Optimizer::epsilon() const {
  if (options.epsilon >= 0)
    return options.epsilon;
  return options.kind == OptimizerKind::Adagrad ? 1e-10 : 1e-8;
}

Value Optimizer::as(Value scalar, Value like) {
  Value &cast = casts[{scalar, Emitter::element(like)}];
  if (!cast)
    cast = e.cast(scalar, Emitter::element(like));
  return cast;
}

Value Optimizer::decayed(Value p) { return decayFactor ? e.mul(p, as(decayFactor, p)) : p; }

Value Optimizer::towards(Value old, Value target, double weight) {
  return e.add(old, e.mul(e.sub(target, old), weight));
}

SmallVector<Value> Optimizer::update(Value parameter, Value gradient, ArrayRef<Value> moments) {
  bool couples = options.kind != OptimizerKind::AdamW && options.kind != OptimizerKind::Lion;
  if (couples && options.weightDecay != 0)
    gradient = e.add(gradient, e.mul(parameter, options.weightDecay));
  switch (options.kind) {
  case OptimizerKind::Sgd: return sgd(parameter, gradient, moments);
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW: return adam(decayed(parameter), gradient, moments);
  case OptimizerKind::RmsProp: return rmsProp(parameter, gradient, moments);
  case OptimizerKind::Adagrad: return adagrad(parameter, gradient, moments);
  case OptimizerKind::Lion: return lion(decayed(parameter), gradient, moments);
  }
  return {};
}

/// b = momentum b + (1 - dampening) g, at the first step b = g; p - lr b, or with
/// Nesterov's form p - lr (g + momentum b)
SmallVector<Value> Optimizer::sgd(Value p, Value g, ArrayRef<Value> moments) {
  Values result = {p};
  if (!moments.empty()) {
    Value damped = g;
    if (options.dampening != 0) {
      Value isFirst = e.compare(dl::Comparison::eq, step, e.integer(1));
      damped = e.select(isFirst, g, e.mul(g, 1 - options.dampening));
    }
    Value buffer = e.add(e.mul(moments[0], options.momentum), damped);
    result.push_back(buffer);
    g = options.nesterov ? e.add(g, e.mul(buffer, options.momentum)) : buffer;
  }
  result[0] = e.sub(p, e.mul(g, as(learningRate, p)));
  return result;
}

/// p - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
SmallVector<Value> Optimizer::adam(Value p, Value g, ArrayRef<Value> moments) {
  Value m = towards(moments[0], g, 1 - options.beta1);
  Value v = e.add(e.mul(moments[1], options.beta2), e.mul(e.square(g), 1 - options.beta2));
  Value root = e.add(e.div(e.sqrt(v), as(rootOfBias, v)), epsilon());
  return {e.sub(p, e.mul(e.div(m, root), as(stepSize, p))), m, v};
}

/// p - lr g / (sqrt(s) + epsilon), s the running mean of g^2
SmallVector<Value> Optimizer::rmsProp(Value p, Value g, ArrayRef<Value> moments) {
  Value s = e.add(e.mul(moments[0], options.alpha), e.mul(e.square(g), 1 - options.alpha));
  Value scaled = e.div(g, e.add(e.sqrt(s), epsilon()));
  Values result = {p, s};
  if (options.momentum != 0) {
    scaled = e.add(e.mul(moments[1], options.momentum), scaled);
    result.push_back(scaled);
  }
  result[0] = e.sub(p, e.mul(scaled, as(learningRate, p)));
  return result;
}

/// p - lr / (1 + (t - 1) decay) g / (sqrt(s) + epsilon), s the sum of g^2
SmallVector<Value> Optimizer::adagrad(Value p, Value g, ArrayRef<Value> moments) {
  Value s = e.add(moments[0], e.square(g));
  Value scaled = e.div(g, e.add(e.sqrt(s), epsilon()));
  return {e.sub(p, e.mul(scaled, as(stepSize, p))), s};
}

/// p - lr sign(beta1 m + (1 - beta1) g)
SmallVector<Value> Optimizer::lion(Value p, Value g, ArrayRef<Value> moments) {
  Value direction = e.make<dl::SignOp>(towards(moments[0], g, 1 - options.beta1));
  return {e.sub(p, e.mul(direction, as(learningRate, p))),
          towards(moments[0], g, 1 - options.beta2)};
}

Optimizer &OptimizerGroups::of(StringRef parameter) {
  size_t number = 0;
  while (number < options.groups.size() && !matchesGlob(parameter, options.groups[number].pattern))
    ++number;
  Member &member = members[number];
  if (member.optimizer)
    return *member.optimizer;
  member.options = options.optimizer;
  Value rate = learningRate;
  if (number < options.groups.size()) {
    const ParameterGroup &group = options.groups[number];
    rate = e.mul(rate, group.learningRate);
    if (group.weightDecay >= 0)
      member.options.weightDecay = group.weightDecay;
  }
  member.optimizer = std::make_unique<Optimizer>(e, member.options, rate, step);
  return *member.optimizer;
}

} // namespace dlc
