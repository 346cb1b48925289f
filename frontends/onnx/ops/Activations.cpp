// Activation functions as compositions of elementwise ops, which fuse.

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"

#include <cmath>

using namespace mlir;

namespace dlc::onnx {

namespace {

/// Arithmetic on one tensor and scalars of its element type.
struct Formula {
  NodeContext &c;
  Value x;

  explicit Formula(NodeContext &c) : c(c), x(c.input(0)) {}
  Value k(double value) { return c.scalar(c.element(x), value); }
  Value add(Value a, Value b) { return c.make<dl::AddOp>(a, b); }
  Value sub(Value a, Value b) { return c.make<dl::SubOp>(a, b); }
  Value mul(Value a, Value b) { return c.make<dl::MulOp>(a, b); }
  Value div(Value a, Value b) { return c.make<dl::DivOp>(a, b); }
  Value min(Value a, Value b) { return c.make<dl::MinOp>(a, b); }
  Value max(Value a, Value b) { return c.make<dl::MaxOp>(a, b); }
  Value exp(Value a) { return c.make<dl::ExpOp>(a); }
  Value expm1(Value a) { return c.make<dl::Expm1Op>(a); }
  Value log(Value a) { return c.make<dl::LogOp>(a); }
  Value log1p(Value a) { return c.make<dl::Log1pOp>(a); }
  Value tanh(Value a) { return c.make<dl::TanhOp>(a); }
  Value neg(Value a) { return c.make<dl::NegOp>(a); }
  Value abs(Value a) { return c.make<dl::AbsOp>(a); }
  Value compare(dl::Comparison p, Value a, Value b) {
    return c.make<dl::CompareOp>(a, b, dl::ComparisonAttr::get(c.b.getContext(), p));
  }
  Value select(Value condition, Value a, Value b) {
    return c.make<dl::SelectOp>(condition, a, b);
  }
  Value positive() { return compare(dl::Comparison::gt, x, k(0)); }
  /// ln(1 + e^v), without overflow.
  Value softplus(Value v) {
    return add(max(v, k(0)), log1p(exp(neg(abs(v)))));
  }
};

template <Value (*formula)(Formula &)> LogicalResult activation(NodeContext &c) {
  if (c.numInputs() != 1 || !c.input(0))
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 1");
  Formula f(c);
  return c.done(formula(f));
}

Value relu(Formula &f) { return f.c.make<dl::ReluOp>(f.x); }
Value sigmoid(Formula &f) { return f.c.make<dl::SigmoidOp>(f.x); }
Value leakyRelu(Formula &f) {
  return f.select(f.compare(dl::Comparison::lt, f.x, f.k(0)),
                  f.mul(f.x, f.k(f.c.floatAttr("alpha", 0.01))), f.x);
}
Value elu(Formula &f) {
  return f.select(f.positive(), f.x,
                  f.mul(f.k(f.c.floatAttr("alpha", 1)), f.expm1(f.min(f.x, f.k(0)))));
}
Value selu(Formula &f) {
  double alpha = f.c.floatAttr("alpha", 1.67326319217681884765625);
  double gamma = f.c.floatAttr("gamma", 1.05070102214813232421875);
  return f.mul(f.k(gamma), f.select(f.positive(), f.x,
                                    f.mul(f.k(alpha), f.expm1(f.min(f.x, f.k(0))))));
}
Value celu(Formula &f) {
  double alpha = f.c.floatAttr("alpha", 1);
  return f.add(f.max(f.x, f.k(0)),
               f.min(f.k(0), f.mul(f.k(alpha), f.expm1(f.div(f.min(f.x, f.k(0)), f.k(alpha))))));
}
Value thresholdedRelu(Formula &f) {
  return f.select(f.compare(dl::Comparison::gt, f.x, f.k(f.c.floatAttr("alpha", 1))), f.x, f.k(0));
}
Value hardSigmoid(Formula &f) {
  Value line = f.add(f.mul(f.x, f.k(f.c.floatAttr("alpha", 0.2))), f.k(f.c.floatAttr("beta", 0.5)));
  return f.min(f.max(line, f.k(0)), f.k(1));
}
Value hardSwish(Formula &f) {
  Value line = f.add(f.mul(f.x, f.k(1.0 / 6)), f.k(0.5));
  return f.mul(f.x, f.min(f.max(line, f.k(0)), f.k(1)));
}
Value softplus(Formula &f) { return f.softplus(f.x); }
Value softsign(Formula &f) { return f.div(f.x, f.add(f.k(1), f.abs(f.x))); }
Value mish(Formula &f) { return f.mul(f.x, f.tanh(f.softplus(f.x))); }
Value swish(Formula &f) {
  double alpha = f.c.floatAttr("alpha", 1);
  Value scaled = alpha == 1 ? f.x : f.mul(f.x, f.k(alpha));
  return f.mul(f.x, f.c.make<dl::SigmoidOp>(scaled));
}
Value gelu(Formula &f) {
  Value half = f.mul(f.x, f.k(0.5));
  if (f.c.stringAttr("approximate", "none") == "tanh") {
    Value cube = f.mul(f.mul(f.x, f.x), f.x);
    Value inner = f.mul(f.k(std::sqrt(2 / M_PI)), f.add(f.x, f.mul(f.k(0.044715), cube)));
    return f.mul(half, f.add(f.k(1), f.tanh(inner)));
  }
  Value erf = f.c.make<dl::ErfOp>(f.mul(f.x, f.k(M_SQRT1_2)));
  return f.mul(half, f.add(f.k(1), erf));
}
Value shrink(Formula &f) {
  double lambda = f.c.floatAttr("lambd", 0.5), bias = f.c.floatAttr("bias", 0);
  Value low = f.compare(dl::Comparison::lt, f.x, f.k(-lambda));
  Value high = f.compare(dl::Comparison::gt, f.x, f.k(lambda));
  return f.select(low, f.add(f.x, f.k(bias)),
                  f.select(high, f.sub(f.x, f.k(bias)), f.k(0)));
}

LogicalResult prelu(NodeContext &c) {
  if (c.numInputs() != 2)
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 2");
  Formula f(c);
  Value slope = c.input(1);
  // Before opset 7 a slope of one value per channel lies along axis 1.
  if (c.opset < 7 && c.rank(slope) == 1 && c.type(slope).getDimSize(0) != 1) {
    SmallVector<int64_t> shape(c.rank(f.x) - 1, 1);
    shape[0] = c.type(slope).getDimSize(0);
    slope = c.reshape(slope, shape);
  }
  return c.done(f.select(f.compare(dl::Comparison::lt, f.x, f.k(0)), f.mul(f.x, slope), f.x));
}

LogicalResult clip(NodeContext &c) {
  Formula f(c);
  Value result = f.x;
  if (!result)
    return c.invalid("has no input");
  if (c.opset < 11) {
    if (c.has("min"))
      result = f.max(result, f.k(c.floatAttr("min", 0)));
    if (c.has("max"))
      result = f.min(result, f.k(c.floatAttr("max", 0)));
    return c.done(result);
  }
  if (Value low = c.input(1))
    result = f.max(result, low);
  if (Value high = c.input(2))
    result = f.min(result, high);
  return c.done(result);
}

} // namespace

void addActivations(Registry &r) {
  r["Celu"] = activation<celu>;
  r["Clip"] = clip;
  r["Elu"] = activation<elu>;
  r["Gelu"] = activation<gelu>;
  r["HardSigmoid"] = activation<hardSigmoid>;
  r["HardSwish"] = activation<hardSwish>;
  r["LeakyRelu"] = activation<leakyRelu>;
  r["Mish"] = activation<mish>;
  r["PRelu"] = prelu;
  r["Relu"] = activation<relu>;
  r["Selu"] = activation<selu>;
  r["Shrink"] = activation<shrink>;
  r["Sigmoid"] = activation<sigmoid>;
  r["Softplus"] = activation<softplus>;
  r["Softsign"] = activation<softsign>;
  r["Swish"] = activation<swish>;
  r["ThresholdedRelu"] = activation<thresholdedRelu>;
}

} // namespace dlc::onnx
