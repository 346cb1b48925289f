// Transforms that change levels, not places.

#include "runtime/data/transforms/OneField.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dlc::data {

namespace {

// ITU-R 601, as every image library has it.
constexpr std::array<double, 3> kGray = {0.299, 0.587, 0.114};

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product(const Matrix &a, const Matrix &b) {
  Matrix result = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        result[i][j] += a[i][k] * b[k][j];
  return result;
}

/// color -> gray + factor * (color - gray)
Matrix saturate(double factor) {
  Matrix result = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      result[i][j] = (1 - factor) * kGray[j] + (i == j ? factor : 0);
  return result;
}

/// Turns colors around the axis of grays (Rodrigues' formula).
Matrix turnHue(double turns) {
  double angle = 2 * std::numbers::pi * turns, c = std::cos(angle), s = std::sin(angle) / std::sqrt(3.0);
  double third = (1 - c) / 3;
  return {{{c + third, third - s, third + s}, {third + s, c + third, third - s}, {third - s, third + s, c + third}}};
}

class Jitter : public OnImage {
public:
  Jitter(const std::string &field, ColorJitter ranges) : OnImage("colorJitter", field), ranges(ranges) {}
  bool isRandom() const override { return true; }

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    for (double range : {ranges.brightness, ranges.contrast, ranges.saturation, ranges.hue})
      if (!(range >= 0 && range <= 1))
        refuse(DLC_USAGE, "a range of ", range, "; 0 to 1 is possible");
    if (shape.channels != 3 || spec.type != DLC_U8)
      refuse(DLC_USAGE, specText(spec.type, spec.dims), " is no u8 image of three channels");
  }

  /// Brightness, contrast, saturation and hue together are one affine map of a pixel.
  void runImage(Value &value, const ImageShape &shape, Random &random) const override {
    auto draw = [&](double range) { return random.uniform(1 - range, 1 + range); };
    double bright = draw(ranges.brightness), contrast = draw(ranges.contrast);
    double saturation = draw(ranges.saturation), hue = random.uniform(-ranges.hue, ranges.hue);
    size_t pixels = shape.height * shape.width;
    const uint8_t *from = value.as<uint8_t>();
    // Contrast is about the mean gray, which saturation leaves; hue keeps the gray axis.
    double base = (1 - contrast) * bright * meanGray(from, pixels);
    Matrix mix = product(turnHue(hue), saturate(saturation));
    float weights[3][3];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        weights[i][j] = static_cast<float>(contrast * bright * mix[i][j]);
    auto offset = static_cast<float>(base);
    uint8_t *to = prepared(value, value.type(), value.dims());
    for (size_t i = 0; i < pixels; ++i, from += 3, to += 3)
      for (int c = 0; c < 3; ++c) {
        float level = offset + weights[c][0] * from[0] + weights[c][1] * from[1] + weights[c][2] * from[2];
        to[c] = static_cast<uint8_t>(std::clamp(level, 0.0f, 255.0f) + 0.5f);
      }
    value.commit();
  }

  static double meanGray(const uint8_t *pixels, size_t count) {
    std::array<uint64_t, 3> sums = {};
    for (size_t i = 0; i < count; ++i)
      for (int c = 0; c < 3; ++c)
        sums[c] += pixels[3 * i + c];
    double sum = 0;
    for (int c = 0; c < 3; ++c)
      sum += kGray[c] * static_cast<double>(sums[c]);
    return count ? sum / static_cast<double>(count) : 0;
  }

  ColorJitter ranges;
};

class ToGray : public OnImage {
public:
  explicit ToGray(const std::string &field) : OnImage("toGray", field) {}

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    if (shape.channels != 3)
      refuse(DLC_USAGE, specText(spec.type, spec.dims), " has not three channels");
    spec.dims[2] = 1;
  }
  void runImage(Value &value, const ImageShape &shape, Random &) const override {
    const int64_t dims[] = {shape.height, shape.width, 1};
    uint8_t *out = prepared(value, shape.type, dims);
    size_t pixels = shape.height * shape.width;
    if (shape.type == DLC_F32)
      mix(value.as<float>(), pixels, reinterpret_cast<float *>(out), 0);
    else
      mix(value.as<uint8_t>(), pixels, out, 0.5f);
    value.commit();
  }
  template <typename T> static void mix(const T *from, size_t pixels, T *to, float half) {
    for (size_t i = 0; i < pixels; ++i, from += 3)
      to[i] = static_cast<T>(float(kGray[0]) * from[0] + float(kGray[1]) * from[1] + float(kGray[2]) * from[2] + half);
  }
};

class Normalize : public OnImage {
public:
  Normalize(const std::string &field, std::vector<double> mean, std::vector<double> deviation)
      : OnImage("normalize", field), mean(std::move(mean)), deviation(std::move(deviation)) {}

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    for (const auto *values : {&mean, &deviation})
      if (values->size() != 1 && values->size() != static_cast<size_t>(shape.channels))
        refuse(DLC_USAGE, values->size(), values == &mean ? " means" : " deviations", " for ", shape.channels,
               " channels");
    for (double value : deviation)
      if (!(value > 0))
        refuse(DLC_USAGE, "a deviation of ", value);
    bool bytes = spec.type == DLC_U8;
    for (int64_t c = 0; c < shape.channels; ++c) {
      double m = mean[mean.size() > 1 ? c : 0], d = deviation[deviation.size() > 1 ? c : 0];
      factors.push_back(static_cast<float>(1 / d));
      offsets.push_back(static_cast<float>(-m / d));
      for (int level = 0; bytes && level < 256; ++level)
        levels.push_back(static_cast<float>((level / 255.0 - m) / d));
    }
    spec.type = DLC_F32;
  }
  void runImage(Value &value, const ImageShape &shape, Random &) const override {
    auto *out = reinterpret_cast<float *>(prepared(value, DLC_F32, value.dims()));
    size_t pixels = shape.height * shape.width, channels = shape.channels;
    if (shape.type == DLC_U8)
      look(value.as<uint8_t>(), pixels, channels, out);
    else
      for (size_t i = 0; i < pixels * channels; ++i)
        out[i] = value.as<float>()[i] * factors[i % channels] + offsets[i % channels];
    value.commit();
  }
  /// A byte has 256 values: they were computed once.
  void look(const uint8_t *from, size_t pixels, size_t channels, float *to) const {
    for (size_t i = 0; i < pixels; ++i, from += channels, to += channels)
      for (size_t c = 0; c < channels; ++c)
        to[c] = levels[256 * c + from[c]];
  }
  std::vector<double> mean, deviation;
  std::vector<float> factors, offsets, levels;
};

class ChannelsFirst : public OnImage {
public:
  explicit ChannelsFirst(const std::string &field) : OnImage("channelsFirst", field) {}

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    spec.dims = {shape.channels, shape.height, shape.width};
  }
  void runImage(Value &value, const ImageShape &shape, Random &) const override {
    const int64_t dims[] = {shape.channels, shape.height, shape.width};
    uint8_t *out = prepared(value, shape.type, dims);
    size_t pixels = shape.height * shape.width;
    if (shape.type == DLC_F32)
      separate(value.as<float>(), pixels, shape.channels, reinterpret_cast<float *>(out));
    else
      separate(value.as<uint8_t>(), pixels, shape.channels, out);
    value.commit();
  }
  template <typename T> static void separate(const T *from, size_t pixels, size_t channels, T *to) {
    for (size_t c = 0; c < channels; ++c)
      for (size_t i = 0; i < pixels; ++i)
        *to++ = from[i * channels + c];
  }
};

} // namespace

TransformPtr colorJitter(const std::string &field, ColorJitter ranges) {
  return std::make_unique<Jitter>(field, ranges);
}
TransformPtr toGray(const std::string &field) { return std::make_unique<ToGray>(field); }
TransformPtr normalize(const std::string &field, std::vector<double> mean, std::vector<double> deviation) {
  return std::make_unique<Normalize>(field, std::move(mean), std::move(deviation));
}
TransformPtr channelsFirst(const std::string &field) { return std::make_unique<ChannelsFirst>(field); }

} // namespace dlc::data
