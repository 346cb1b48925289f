#include "runtime/tools/io/Resize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace dlc::cli {

namespace {

typedef float Four __attribute__((vector_size(16)));

void store(float value, float *to) { *to = value; }
/// Adding 2^23 leaves the nearest integer in the lowest bits. The mean of bytes needs no
/// clamping: the weights are positive and add to one but for their last bit.
void store(float value, uint8_t *to) {
  *to = static_cast<uint8_t>(std::bit_cast<uint32_t>(value + 0x1p23f));
}

/// mix = the sum of weights[t] * (row t of the source).
template <typename From>
[[gnu::always_inline]] inline void mixRowsInto(float *mix, const From *source, size_t rowStride,
                                               const float *weights, int count, size_t length) {
  for (size_t i = 0; i < length; ++i)
    mix[i] = weights[0] * static_cast<float>(source[i]);
  for (int t = 1; t < count; ++t) {
    source += rowStride;
    for (size_t i = 0; i < length; ++i)
      mix[i] += weights[t] * static_cast<float>(source[i]);
  }
}

/// The same operations in the same order, without fused ones: the same bits.
template <typename From>
__attribute__((target("avx2"))) void mixRowsAvx2(float *mix, const From *source, size_t rowStride,
                                                 const float *weights, int count, size_t length) {
  mixRowsInto(mix, source, rowStride, weights, count, length);
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
  auto mix = __builtin_cpu_supports("avx2") ? mixRowsAvx2<From> : mixRowsInto<From>;
  mix(row.data(), from.start + taps.first * from.rowStride, from.rowStride,
      down.weights.data() + taps.weights, taps.count, size_t(from.width) * from.channels);
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
