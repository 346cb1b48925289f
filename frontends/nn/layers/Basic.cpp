#include "frontends/nn/layers/Basic.h"

#include "frontends/nn/Functions.h"

namespace dlc::nn {

namespace {

/// A size that is known and is not `wanted` is an error.
void check(const Scope &scope, const Value &x, int64_t axis, int64_t wanted, const char *what) {
  const Dim &size = x.dim(axis);
  if (size.isFixed() && size.size != wanted)
    scope.fail("the input has " + std::to_string(size.size) + " " + what + ", the layer takes " + std::to_string(wanted) +
               "; its shape is " + toString(x.shape()));
}

std::optional<Value> makeBias(const Scope &scope, bool wanted, int64_t out, int64_t fanIn) {
  return wanted ? std::optional(scope.parameter("bias", {out}, Init::fanIn(fanIn))) : std::nullopt;
}

int64_t divided(const Scope &scope, int64_t channels, int64_t groups) {
  if (groups < 1 || channels % groups != 0)
    scope.fail(std::to_string(channels) + " channels cannot be divided into " + std::to_string(groups) + " groups");
  return channels / groups;
}

} // namespace

Linear::Linear(Scope scope, int64_t in, int64_t out, Options options)
    : scope(scope), in(in), weight(scope.parameter("weight", {out, in}, options.weight.value_or(Init::fanIn(in)))),
      bias(makeBias(scope, options.bias, out, in)) {}

Value Linear::operator()(const Value &x) const {
  NameScope names(scope);
  check(scope, x, -1, in, "features");
  if (x.rank() == 2 && bias) {
    Shape shape = {x.dim(0), weight.dim(0)};
    return x.graph().node("Gemm", {x, weight, *bias}, {x.type(), shape}, {{"transB", int64_t(1)}});
  }
  Value product = matmul(x, transpose(weight, {1, 0}));
  return bias ? product + *bias : product;
}

Embedding::Embedding(Scope scope, int64_t count, int64_t width, Init init)
    : scope(scope), weight(scope.parameter("weight", {count, width}, init)) {}

Value Embedding::operator()(const Value &indices) const {
  NameScope names(scope);
  if (indices.type() != ElementType::Int64)
    scope.fail("'" + indices.name() + "' does not hold integers");
  return gather(weight, indices);
}

Value Embedding::attend(const Value &x) const {
  NameScope names(scope);
  check(scope, x, -1, weight.dim(1).size, "features");
  return matmul(x, transpose(weight, {1, 0}));
}

Conv2d::Conv2d(Scope scope, int64_t in, int64_t out, int64_t kernel, Options options)
    : scope(scope), in(in), out(out), kernel(kernel), options(options),
      weight(scope.parameter("weight", {out, divided(scope, in, options.groups), kernel, kernel},
                             options.weight.value_or(Init::fanIn(in / options.groups * kernel * kernel)))),
      bias(makeBias(scope, options.bias, out, in / options.groups * kernel * kernel)) {
  divided(scope, out, options.groups);
}

Value Conv2d::operator()(const Value &x) const {
  NameScope names(scope);
  if (x.rank() != 4)
    scope.fail("the input has shape " + toString(x.shape()) + ", not [n, c, h, w]");
  check(scope, x, 1, in, "channels");
  const Options &o = options;
  Shape shape = {x.dim(0), Dim(out), windowedSize(x.dim(2), kernel, o.stride, o.padding, o.dilation),
                 windowedSize(x.dim(3), kernel, o.stride, o.padding, o.dilation)};
  std::vector<Value> inputs = {x, weight};
  if (bias)
    inputs.push_back(*bias);
  return x.graph().node("Conv", inputs, {x.type(), shape},
                        {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                         {"strides", std::vector<int64_t>{o.stride, o.stride}},
                         {"pads", std::vector<int64_t>(4, o.padding)},
                         {"dilations", std::vector<int64_t>{o.dilation, o.dilation}},
                         {"group", o.groups}});
}

BatchNorm::BatchNorm(Scope scope, int64_t channels, float epsilon, float momentum)
    : scope(scope), channels(channels), epsilon(epsilon), momentum(momentum),
      weight(scope.parameter("weight", {channels}, Init::ones())),
      bias(scope.parameter("bias", {channels}, Init::zeros())),
      runningMean(scope.parameter("running_mean", {channels}, Init::zeros())),
      runningVar(scope.parameter("running_var", {channels}, Init::ones())) {}

Value BatchNorm::operator()(const Value &x) const {
  NameScope names(scope);
  check(scope, x, 1, channels, "channels");
  Result statistics{ElementType::Float32, {Dim(channels)}};
  // ONNX's momentum is the share of the old statistics.
  return x.graph().nodes("BatchNormalization", {&x, &weight, &bias, &runningMean, &runningVar},
                         {{x.type(), x.shape()}, statistics, statistics},
                         {{"epsilon", epsilon}, {"momentum", 1 - momentum}, {"training_mode", int64_t(1), true}}, 5, 1)[0];
}

LayerNorm::LayerNorm(Scope scope, int64_t width, float epsilon)
    : scope(scope), width(width), epsilon(epsilon), weight(scope.parameter("weight", {width}, Init::ones())),
      bias(scope.parameter("bias", {width}, Init::zeros())) {}

Value LayerNorm::operator()(const Value &x) const {
  NameScope names(scope);
  check(scope, x, -1, width, "features");
  return x.graph().node("LayerNormalization", {x, weight, bias}, {x.type(), x.shape()},
                        {{"axis", int64_t(-1)}, {"epsilon", epsilon}});
}

Dropout::Dropout(float probability) : probability(probability) {
  if (!(probability >= 0 && probability < 1))
    throw Error("dropout with probability " + std::to_string(probability) + ": it is in [0, 1)");
}

Value Dropout::operator()(const Value &x) const {
  if (probability == 0)
    return x;
  Graph &g = x.graph();
  Value ratio = g.constant(probability), trains = g.constant(Tensor{ElementType::Bool, {}, std::string(1, '\1')});
  return g.nodes("Dropout", {&x, &ratio, &trains}, {{x.type(), x.shape()}}, {}, 2, 1)[0];
}

ConvBlock::ConvBlock(Scope scope, int64_t in, int64_t out, int64_t kernel, Conv2d::Options options, Activation activation)
    : conv(scope / "conv", in, out, kernel,
           [&] {
             options.bias = false;
             return options;
           }()),
      norm(scope / "bn", out), activation(std::move(activation)) {}

ConvBlock::ConvBlock(Scope scope, int64_t in, int64_t out, int64_t kernel, Conv2d::Options options)
    : ConvBlock(std::move(scope), in, out, kernel, options, relu) {}

Value ConvBlock::operator()(const Value &x) const {
  Value y = norm(conv(x));
  return activation ? activation(y) : y;
}

std::function<Value(const Value &)> residual(std::function<Value(const Value &)> inner) {
  return [inner = std::move(inner)](const Value &x) { return x + inner(x); };
}

} // namespace dlc::nn
