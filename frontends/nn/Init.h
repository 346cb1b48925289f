// How parameters begin: PyTorch's initialisers.

#ifndef DLC_FRONTENDS_NN_INIT_H
#define DLC_FRONTENDS_NN_INIT_H

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc::nn {

struct Init {
  enum class Kind { Constant, Uniform, Normal, TruncatedNormal };
  Kind kind;
  double scale; // the value, the bound, or the standard deviation

  static Init constant(double value) { return {Kind::Constant, value}; }
  static Init zeros() { return constant(0); }
  static Init ones() { return constant(1); }
  static Init uniform(double bound) { return {Kind::Uniform, bound}; }
  static Init normal(double deviation) { return {Kind::Normal, deviation}; }
  /// Draws beyond two deviations are drawn again.
  static Init truncatedNormal(double deviation) { return {Kind::TruncatedNormal, deviation}; }

  /// Glorot & Bengio, 2010.
  static Init xavierUniform(int64_t fanIn, int64_t fanOut) {
    return uniform(std::sqrt(6.0 / double(fanIn + fanOut)));
  }
  /// He et al., 2015, for leaky ReLU with slope sqrt(5): the default of PyTorch's layers.
  static Init fanIn(int64_t fanIn) { return uniform(1 / std::sqrt(double(fanIn))); }
  /// He et al., 2015, for ReLU, by what a value feeds.
  static Init kaimingNormal(int64_t fanOut) { return normal(std::sqrt(2.0 / double(fanOut))); }
};

/// `count` values, a function of the arguments alone.
std::vector<float> draw(const Init &init, uint64_t seed, const std::string &name, uint64_t count);

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_INIT_H
