// Layers with weights over the last axis, or over images. All are made with the scope
// that names their parameters, and called with values: twice shares the parameters.

#ifndef DLC_FRONTENDS_NN_LAYERS_BASIC_H
#define DLC_FRONTENDS_NN_LAYERS_BASIC_H

#include "frontends/nn/Graph.h"

#include <functional>
#include <optional>

namespace dlc::nn {

/// x W^T + b: [.., in] -> [.., out]. Parameters: weight [out, in], bias [out].
class Linear {
public:
  struct Options {
    bool bias = true;
    std::optional<Init> weight = std::nullopt; // uniform by fan-in
  };
  Linear(Scope scope, int64_t in, int64_t out) : Linear(std::move(scope), in, out, Options()) {}
  Linear(Scope scope, int64_t in, int64_t out, Options options);
  Value operator()(const Value &x) const;

private:
  Scope scope;
  int64_t in;
  Value weight;
  std::optional<Value> bias;
};

/// Rows by integers: [i..] -> [i.., width]. Parameter: weight [count, width].
class Embedding {
public:
  Embedding(Scope scope, int64_t count, int64_t width, Init init = Init::normal(1));
  Value operator()(const Value &indices) const;
  /// For logits that share it: [.., width] -> [.., count].
  Value attend(const Value &x) const;

private:
  Scope scope;
  Value weight;
};

/// [n, in, h, w] -> [n, out, h', w']. Parameters: weight [out, in / groups, k, k], bias [out].
class Conv2d {
public:
  struct Options {
    int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
    bool bias = true;
    std::optional<Init> weight = std::nullopt; // uniform by fan-in
  };
  Conv2d(Scope scope, int64_t in, int64_t out, int64_t kernel) : Conv2d(std::move(scope), in, out, kernel, Options()) {}
  Conv2d(Scope scope, int64_t in, int64_t out, int64_t kernel, Options options);
  Value operator()(const Value &x) const;

private:
  Scope scope;
  int64_t in, out, kernel;
  Options options;
  Value weight;
  std::optional<Value> bias;
};

/// Over the batch and all axes behind the channels, axis 1; by running statistics in
/// inference. Parameters: weight, bias, running_mean, running_var, all [channels].
class BatchNorm {
public:
  BatchNorm(Scope scope, int64_t channels, float epsilon = 1e-5f, float momentum = 0.1f);
  Value operator()(const Value &x) const;

private:
  Scope scope;
  int64_t channels;
  float epsilon, momentum; // momentum: the share of the new statistics
  Value weight, bias, runningMean, runningVar;
};

/// Over the last axis. Parameters: weight, bias [width].
class LayerNorm {
public:
  LayerNorm(Scope scope, int64_t width, float epsilon = 1e-5f);
  Value operator()(const Value &x) const;

private:
  Scope scope;
  int64_t width;
  float epsilon;
  Value weight, bias;
};

/// Sets elements to 0 with this probability and scales the others up; nothing in inference.
class Dropout {
public:
  explicit Dropout(float probability);
  Value operator()(const Value &x) const;

private:
  float probability;
};

/// Convolution without bias, batch norm, ReLU: what the compiler makes one kernel.
class ConvBlock {
public:
  using Activation = std::function<Value(const Value &)>;
  ConvBlock(Scope scope, int64_t in, int64_t out, int64_t kernel, Conv2d::Options options, Activation activation);
  ConvBlock(Scope scope, int64_t in, int64_t out, int64_t kernel, Conv2d::Options options = Conv2d::Options());
  Value operator()(const Value &x) const;

private:
  Conv2d conv;
  BatchNorm norm;
  Activation activation; // null: none
};

/// Layers one after the other, named 0, 1, ..
class Sequential {
public:
  explicit Sequential(Scope scope) : scope(std::move(scope)) {}

  /// Makes a layer in the scope of its number.
  template <typename Layer, typename... Args> Sequential &add(Args &&...args) {
    return then(Layer(scope / int64_t(layers.size()), std::forward<Args>(args)...));
  }
  /// Any function of a value.
  Sequential &then(std::function<Value(const Value &)> function) {
    layers.push_back(std::move(function));
    return *this;
  }
  Value operator()(Value x) const {
    for (const auto &layer : layers)
      x = layer(x);
    return x;
  }

private:
  Scope scope;
  std::vector<std::function<Value(const Value &)>> layers;
};

/// x + inner(x)
std::function<Value(const Value &)> residual(std::function<Value(const Value &)> inner);

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_LAYERS_BASIC_H
