// The standard's distributions differ between libraries, so numbers are made from the
// generator's words here: the same seed gives the same model everywhere.

#include "frontends/nn/Init.h"

#include <numbers>
#include <random>

namespace dlc::nn {

namespace {

/// FNV-1a
uint64_t hashOf(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

/// In [0, 1), 53 bits.
double unit(std::mt19937_64 &words) { return double(words() >> 11) * 0x1p-53; }

/// Box & Muller, 1958.
double gaussian(std::mt19937_64 &words) {
  double radius = std::sqrt(-2 * std::log(1 - unit(words)));
  return radius * std::cos(2 * std::numbers::pi * unit(words));
}

double one(const Init &init, std::mt19937_64 &words) {
  switch (init.kind) {
  case Init::Kind::Constant:
    return init.scale;
  case Init::Kind::Uniform:
    return (2 * unit(words) - 1) * init.scale;
  case Init::Kind::Normal:
    return gaussian(words) * init.scale;
  case Init::Kind::TruncatedNormal:
    break;
  }
  double value = gaussian(words);
  while (std::abs(value) > 2)
    value = gaussian(words);
  return value * init.scale;
}

} // namespace

std::vector<float> draw(const Init &init, uint64_t seed, const std::string &name, uint64_t count) {
  std::mt19937_64 words(hashOf(name) ^ (seed * 0x9e3779b97f4a7c15u));
  std::vector<float> values(count);
  for (float &value : values)
    value = float(one(init, words));
  return values;
}

} // namespace dlc::nn
