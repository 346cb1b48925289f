// Transforms that choose which pixels: resizing, cropping, flipping.

#include "runtime/data/transforms/OneField.h"
#include "runtime/tools/io/Resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dlc::data {

namespace {

constexpr int64_t kLongestSide = 1 << 14;

/// A part of an image, in pixels.
struct Region {
  int64_t top, left, height, width;
};

Region whole(const ImageShape &shape) { return {0, 0, shape.height, shape.width}; }

template <typename T>
cli::Pixels<T> pixelsOf(const Value &value, const ImageShape &shape, const Region &region) {
  size_t stride = shape.width * shape.channels;
  return {value.as<T>() + region.top * stride + region.left * shape.channels,
          static_cast<int>(region.height), static_cast<int>(region.width),
          static_cast<int>(shape.channels), stride};
}

uint8_t *preparedImage(Value &value, const ImageShape &shape, int64_t height, int64_t width) {
  const int64_t dims[] = {height, width, shape.channels};
  return prepared(value, shape.type, {dims, shape.hasChannelAxis ? size_t(3) : size_t(2)});
}

void resizeRegion(Value &value, const ImageShape &shape, const Region &region, int64_t height,
                  int64_t width) {
  // Its tables fit the thread's last image, often of the same size.
  thread_local cli::Resizer resizer;
  if (region.height < 1 || region.width < 1 || shape.height > kLongestSide || shape.width > kLongestSide)
    fail(DLC_USAGE, "an image of ", shape.height, " x ", shape.width, " pixels cannot be resized; sides of 1 to ",
         kLongestSide, " can");
  uint8_t *out = preparedImage(value, shape, height, width);
  auto h = static_cast<int>(height), w = static_cast<int>(width);
  if (shape.type == DLC_F32)
    resizer.resize(pixelsOf<float>(value, shape, region), h, w, reinterpret_cast<float *>(out));
  else
    resizer.resize(pixelsOf<uint8_t>(value, shape, region), h, w, out);
  value.commit();
}

/// Copies the region, which may reach beyond the image; there zeros are.
void cropRegion(Value &value, const ImageShape &shape, const Region &region) {
  uint8_t *out = preparedImage(value, shape, region.height, region.width);
  size_t pixel = shape.pixelBytes(), rowBytes = region.width * pixel;
  int64_t from = std::clamp<int64_t>(region.left, 0, shape.width);
  int64_t to = std::clamp<int64_t>(region.left + region.width, from, shape.width);
  for (int64_t y = 0; y < region.height; ++y, out += rowBytes) {
    int64_t sourceY = region.top + y;
    if (sourceY < 0 || sourceY >= shape.height || to == from) {
      std::memset(out, 0, rowBytes);
      continue;
    }
    size_t before = (from - region.left) * pixel, bytes = (to - from) * pixel;
    std::memset(out, 0, before);
    std::memcpy(out + before, value.bytes().data() + (sourceY * shape.width + from) * pixel, bytes);
    std::memset(out + before + bytes, 0, rowBytes - before - bytes);
  }
  value.commit();
}

void setSize(FieldSpec &spec, int64_t height, int64_t width) {
  spec.dims[0] = height;
  spec.dims[1] = width;
}

/// Transforms that give images of one size.
class ToSize : public OnImage {
protected:
  ToSize(const char *what, const std::string &field, int height, int width)
      : OnImage(what, field), height(height), width(width) {}
  void bindImage(FieldSpec &spec, const ImageShape &) override {
    if (height < 1 || width < 1 || height > kLongestSide || width > kLongestSide)
      refuse(DLC_USAGE, "a size of ", height, " x ", width, "; sides of 1 to ", kLongestSide, " are possible");
    setSize(spec, height, width);
  }
  int64_t height, width;
};

class Resize : public ToSize {
public:
  Resize(const std::string &field, int height, int width) : ToSize("resize", field, height, width) {}

private:
  void runImage(Value &value, const ImageShape &shape, Random &) const override {
    if (shape.height != height || shape.width != width)
      resizeRegion(value, shape, whole(shape), height, width);
  }
};

class ResizeShorter : public OnImage {
public:
  ResizeShorter(const std::string &field, int side) : OnImage("resizeShorter", field), side(side) {}

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    if (side < 1 || side > kLongestSide)
      refuse(DLC_USAGE, "a side of ", side, "; 1 to ", kLongestSide, " is possible");
    if (shape.height > 0 && shape.width > 0) {
      auto [height, width] = sizeOf(shape);
      setSize(spec, height, width);
    } else {
      setSize(spec, -1, -1);
    }
  }
  std::pair<int64_t, int64_t> sizeOf(const ImageShape &shape) const {
    int64_t shorter = std::min(shape.height, shape.width);
    auto scaled = [&](int64_t length) {
      return length == shorter ? side : std::max<int64_t>(1, length * side / shorter);
    };
    return {scaled(shape.height), scaled(shape.width)};
  }
  void runImage(Value &value, const ImageShape &shape, Random &) const override {
    if (shape.height < 1 || shape.width < 1)
      refuse(DLC_USAGE, "an image without pixels");
    auto [height, width] = sizeOf(shape);
    if (std::max(height, width) > kLongestSide)
      refuse(DLC_USAGE, "an image of ", shape.height, " x ", shape.width, " would have a side of ",
             std::max(height, width));
    if (height != shape.height || width != shape.width)
      resizeRegion(value, shape, whole(shape), height, width);
  }
  int64_t side;
};

class CenterCrop : public ToSize {
public:
  CenterCrop(const std::string &field, int height, int width) : ToSize("centerCrop", field, height, width) {}

private:
  void runImage(Value &value, const ImageShape &shape, Random &) const override {
    if (shape.height < height || shape.width < width)
      refuse(DLC_USAGE, "an image of ", shape.height, " x ", shape.width, " pixels is smaller than ", height,
             " x ", width);
    if (shape.height != height || shape.width != width)
      cropRegion(value, shape, {(shape.height - height) / 2, (shape.width - width) / 2, height, width});
  }
};

class RandomCrop : public ToSize {
public:
  RandomCrop(const std::string &field, int height, int width, int padding)
      : ToSize("randomCrop", field, height, width), padding(padding) {}
  bool isRandom() const override { return true; }

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    if (padding < 0 || padding > kLongestSide)
      refuse(DLC_USAGE, "a padding of ", padding);
    ToSize::bindImage(spec, shape);
  }
  void runImage(Value &value, const ImageShape &shape, Random &random) const override {
    int64_t roomY = shape.height + 2 * padding - height, roomX = shape.width + 2 * padding - width;
    if (roomY < 0 || roomX < 0)
      refuse(DLC_USAGE, "an image of ", shape.height, " x ", shape.width, " pixels and a padding of ",
             padding, " is smaller than ", height, " x ", width);
    auto top = static_cast<int64_t>(random.below(roomY + 1)) - padding;
    auto left = static_cast<int64_t>(random.below(roomX + 1)) - padding;
    cropRegion(value, shape, {top, left, height, width});
  }
  int64_t padding;
};

class RandomResizedCrop : public ToSize {
public:
  RandomResizedCrop(const std::string &field, int height, int width, CropRange range)
      : ToSize("randomResizedCrop", field, height, width), range(range) {}
  bool isRandom() const override { return true; }

private:
  void bindImage(FieldSpec &spec, const ImageShape &shape) override {
    bool good = range.minArea > 0 && range.minArea <= range.maxArea && range.maxArea <= 1 &&
                range.minRatio > 0 && range.minRatio <= range.maxRatio && std::isfinite(range.maxRatio);
    if (!good)
      refuse(DLC_USAGE, "areas of ", range.minArea, " to ", range.maxArea, " and ratios of ", range.minRatio,
             " to ", range.maxRatio);
    ToSize::bindImage(spec, shape);
  }
  void runImage(Value &value, const ImageShape &shape, Random &random) const override {
    resizeRegion(value, shape, choose(shape, random), height, width);
  }
  /// A part that fits, within ten attempts; else the middle with the nearest ratio.
  Region choose(const ImageShape &shape, Random &random) const {
    double area = static_cast<double>(shape.height) * static_cast<double>(shape.width);
    for (int attempt = 0; attempt < 10; ++attempt) {
      double part = area * random.uniform(range.minArea, range.maxArea);
      double ratio = std::exp(random.uniform(std::log(range.minRatio), std::log(range.maxRatio)));
      int64_t w = std::llround(std::sqrt(part * ratio)), h = std::llround(std::sqrt(part / ratio));
      if (w < 1 || h < 1 || w > shape.width || h > shape.height)
        continue;
      auto top = static_cast<int64_t>(random.below(shape.height - h + 1));
      auto left = static_cast<int64_t>(random.below(shape.width - w + 1));
      return {top, left, h, w};
    }
    double ratio = std::clamp(static_cast<double>(shape.width) / static_cast<double>(shape.height),
                              range.minRatio, range.maxRatio);
    int64_t h = std::clamp<int64_t>(std::llround(static_cast<double>(shape.width) / ratio), 1, shape.height);
    int64_t w = std::clamp<int64_t>(std::llround(static_cast<double>(h) * ratio), 1, shape.width);
    return {(shape.height - h) / 2, (shape.width - w) / 2, h, w};
  }
  CropRange range;
};

class RandomFlip : public OnImage {
public:
  RandomFlip(const std::string &field, double probability)
      : OnImage("randomFlip", field), probability(probability) {}
  bool isRandom() const override { return true; }

private:
  void bindImage(FieldSpec &, const ImageShape &) override {
    if (!(probability >= 0 && probability <= 1))
      refuse(DLC_USAGE, "a probability of ", probability);
  }
  void runImage(Value &value, const ImageShape &shape, Random &random) const override {
    if (random.uniform() >= probability)
      return;
    size_t pixel = shape.pixelBytes();
    uint8_t *out = prepared(value, value.type(), value.dims());
    const uint8_t *row = value.bytes().data();
    for (int64_t y = 0; y < shape.height; ++y, row += shape.width * pixel, out += shape.width * pixel)
      for (int64_t x = 0; x < shape.width; ++x)
        std::memcpy(out + x * pixel, row + (shape.width - 1 - x) * pixel, pixel);
    value.commit();
  }
  double probability;
};

} // namespace

TransformPtr resize(const std::string &field, int height, int width) {
  return std::make_unique<Resize>(field, height, width);
}
TransformPtr resizeShorter(const std::string &field, int side) {
  return std::make_unique<ResizeShorter>(field, side);
}
TransformPtr centerCrop(const std::string &field, int height, int width) {
  return std::make_unique<CenterCrop>(field, height, width);
}
TransformPtr randomCrop(const std::string &field, int height, int width, int padding) {
  return std::make_unique<RandomCrop>(field, height, width, padding);
}
TransformPtr randomResizedCrop(const std::string &field, int height, int width, CropRange range) {
  return std::make_unique<RandomResizedCrop>(field, height, width, range);
}
TransformPtr randomFlip(const std::string &field, double probability) {
  return std::make_unique<RandomFlip>(field, probability);
}

} // namespace dlc::data
