#include "runtime/tools/io/Resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace dlc::cli {

namespace {

typedef float Four __attribute__((vector_size(16)));

void store(float value, float *to) { *to = value; }
void store(float value, uint8_t *to) {
  // Weights add to one but for rounding: 255 stays 255.
  *to = static_cast<uint8_t>(std::nearbyint(std::clamp(value, 0.0f, 255.0f)));
}

} // namespace

/// A triangle as wide as the larger of the two pixel sizes: bilinear when enlarging,
/// averaging when shrinking, so that nothing aliases.
void Resizer::Axis::prepare(int fromSize, int toSize) {
  if (from == fromSize && to == toSize)
    return;
  from = fromSize;
  to = toSize;
  taps.clear();
  weights.clear();
  double scale = static_cast<double>(from) / to, reach = std::max(scale, 1.0);
  for (int i = 0; i < to; ++i) {
    double center = (i + 0.5) * scale, sum = 0;
    auto weightOf = [&](int s) { return std::max(0.0, 1 - std::fabs(s + 0.5 - center) / reach); };
    int first = std::max(0, static_cast<int>(std::floor(center - reach)));
    int last = std::min(from - 1, static_cast<int>(std::ceil(center + reach)));
    while (first < last && weightOf(first) == 0)
      ++first;
    while (last > first && weightOf(last) == 0)
      --last;
    for (int s = first; s <= last; ++s)
      sum += weightOf(s);
    taps.push_back({first, last - first + 1, weights.size()});
    for (int s = first; s <= last; ++s)
      weights.push_back(static_cast<float>(weightOf(s) / sum));
  }
}

template <typename From> void Resizer::mixRows(const Pixels<From> &from, const Taps &taps) {
  size_t length = size_t(from.width) * from.channels;
  const From *source = from.start + taps.first * from.rowStride;
  float *mix = row.data(), weight = down.weights[taps.weights];
  for (size_t i = 0; i < length; ++i)
    mix[i] = weight * static_cast<float>(source[i]);
  for (int t = 1; t < taps.count; ++t) {
    source += from.rowStride;
    weight = down.weights[taps.weights + t];
    for (size_t i = 0; i < length; ++i)
      mix[i] += weight * static_cast<float>(source[i]);
  }
}

template <int Channels, typename To>
void Resizer::mixColumns(int channels, int width, To *to) const {
  for (int x = 0; x < width; ++x, to += channels) {
    const Taps &taps = across.taps[x];
    const float *weights = across.weights.data() + taps.weights;
    const float *source = row.data() + size_t(taps.first) * channels;
    if constexpr (Channels == 3) {
      Four sum = {}; // the fourth is the next pixel's, and unused
      for (int t = 0; t < taps.count; ++t, source += Channels) {
        Four pixel;
        std::memcpy(&pixel, source, sizeof pixel);
        sum += weights[t] * pixel;
      }
      for (int c = 0; c < Channels; ++c)
        store(sum[c], to + c);
    } else {
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int t = 0; t < taps.count; ++t)
          sum += weights[t] * source[t * channels + c];
        store(sum, to + c);
      }
    }
  }
}

template <typename From, typename To>
void Resizer::run(const Pixels<From> &from, int height, int width, To *to) {
  size_t length = size_t(width) * from.channels;
  if (from.height == height && from.width == width) {
    for (int y = 0; y < height; ++y)
      std::copy_n(from.start + y * from.rowStride, length, to + y * length);
    return;
  }
  down.prepare(from.height, height);
  across.prepare(from.width, width);
  row.resize(size_t(from.width) * from.channels + 4);
  for (int y = 0; y < height; ++y) {
    mixRows(from, down.taps[y]);
    if (from.channels == 3)
      mixColumns<3>(3, width, to + y * length);
    else
      mixColumns<0>(from.channels, width, to + y * length);
  }
}

void Resizer::resize(const Pixels<uint8_t> &from, int height, int width, uint8_t *to) {
  run(from, height, width, to);
}
void Resizer::resize(const Pixels<uint8_t> &from, int height, int width, float *to) {
  run(from, height, width, to);
}
void Resizer::resize(const Pixels<float> &from, int height, int width, float *to) {
  run(from, height, width, to);
}

} // namespace dlc::cli
