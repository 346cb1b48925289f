#include "runtime/tools/io/Image.h"

#include "runtime/tools/io/Error.h"

#include <algorithm>
#include <cmath>

namespace dlc::cli {

namespace {

/// Which source samples make one target sample, and by how much.
struct Taps {
  int first;
  std::vector<float> weights;
};

/// A triangle as wide as the larger of the two pixel sizes: bilinear when
/// enlarging, averaging when shrinking, so that nothing aliases.
std::vector<Taps> makeTaps(int from, int to) {
  double scale = static_cast<double>(from) / to, reach = std::max(scale, 1.0);
  std::vector<Taps> all(to);
  for (int i = 0; i < to; ++i) {
    double center = (i + 0.5) * scale;
    int first = std::max(0, static_cast<int>(std::floor(center - reach)));
    int last = std::min(from - 1, static_cast<int>(std::ceil(center + reach)));
    double sum = 0;
    std::vector<double> weights;
    for (int s = first; s <= last; ++s) {
      weights.push_back(std::max(0.0, 1 - std::fabs(s + 0.5 - center) / reach));
      sum += weights.back();
    }
    all[i].first = first;
    for (double weight : weights)
      all[i].weights.push_back(static_cast<float>(weight / sum));
  }
  return all;
}

/// Where the axes of an image input are, from its dims.
struct Layout {
  size_t channel, height, width;
  int channels;
};

Layout layoutOf(const ImageTarget &target) {
  size_t rank = target.dims.size();
  auto isChannels = [&](size_t axis) {
    return target.dims[axis] == 1 || target.dims[axis] == 3;
  };
  if (rank == 3 || rank == 4) {
    size_t first = rank - 3;
    if (rank == 4 && target.dims[0] > 1)
      fail(DLC_UNSUPPORTED, "input ", inQuotes(target.name), ": one image, but a batch of ",
           target.dims[0]);
    if (isChannels(first))
      return {first, first + 1, first + 2, static_cast<int>(target.dims[first])};
    if (isChannels(rank - 1))
      return {rank - 1, first, first + 1, static_cast<int>(target.dims[rank - 1])};
  }
  fail(DLC_USAGE, "input ", inQuotes(target.name), ": ", typeText(target.type, target.dims),
       " is no image: [N,C,H,W] or [N,H,W,C] with 1 or 3 channels is");
}

double perChannel(const std::vector<double> &values, int channel, double otherwise) {
  if (values.empty())
    return otherwise;
  return values.size() == 1 ? values[0] : values.at(channel);
}

void checkChannelOptions(const ImageOptions &options, int channels) {
  for (const auto *values : {&options.mean, &options.deviation})
    if (values->size() > 1 && values->size() != static_cast<size_t>(channels))
      fail(DLC_USAGE, values == &options.mean ? "--mean" : "--std", ": ", values->size(),
           " values for ", channels, " channels");
}

std::vector<float> toGray(const std::vector<float> &rgb) {
  size_t plane = rgb.size() / 3;
  std::vector<float> gray(plane);
  for (size_t i = 0; i < plane; ++i) // ITU-R 601, as every image library has it
    gray[i] = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
  return gray;
}

} // namespace

std::vector<float> resizedPlanes(const Image &image, int width, int height) {
  std::vector<Taps> across = makeTaps(image.width, width);
  std::vector<Taps> down = makeTaps(image.height, height);
  std::vector<float> narrow(size_t(3) * image.height * width); // [c][h][w]
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < width; ++x) {
        float sum = 0;
        for (size_t t = 0; t < across[x].weights.size(); ++t)
          sum += across[x].weights[t] *
                 image.pixels[(size_t(y) * image.width + across[x].first + t) * 3 + c];
        narrow[(size_t(c) * image.height + y) * width + x] = sum;
      }
  std::vector<float> planes(size_t(3) * height * width, 0.0f);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < height; ++y)
      for (size_t t = 0; t < down[y].weights.size(); ++t)
        for (int x = 0; x < width; ++x)
          planes[(size_t(c) * height + y) * width + x] +=
              down[y].weights[t] *
              narrow[(size_t(c) * image.height + down[y].first + t) * width + x];
  return planes;
}

Tensor imageTensor(const Image &image, const ImageTarget &target,
                   const ImageOptions &options) {
  Layout layout = layoutOf(target);
  checkChannelOptions(options, layout.channels);
  Dims dims = target.dims;
  if (dims.size() == 4)
    dims[0] = 1;
  constexpr int64_t longest = 1 << 14;
  for (auto [axis, own] : {std::pair{layout.height, image.height}, std::pair{layout.width, image.width}}) {
    if (dims[axis] < 0)
      dims[axis] = own;
    if (dims[axis] == 0 || dims[axis] > longest)
      fail(DLC_UNSUPPORTED, "input ", inQuotes(target.name), ": images of ", dims[axis], " pixels a side");
  }
  bool raw = target.type == DLC_U8;
  if (!raw && !isFloat(target.type))
    fail(DLC_UNSUPPORTED, "input ", inQuotes(target.name), ": an image for ",
         dlc_type_name(target.type), "; floats and u8 are supported");
  if (raw && (!options.mean.empty() || !options.deviation.empty()))
    fail(DLC_USAGE, "input ", inQuotes(target.name), " is u8: --mean and --std are for floats");
  int64_t height = dims[layout.height], width = dims[layout.width], plane = height * width;
  std::vector<float> planes = resizedPlanes(image, static_cast<int>(width), static_cast<int>(height));
  if (layout.channels == 1)
    planes = toGray(planes);
  Tensor tensor = makeTensor(target.type, dims, target.name);
  bool channelsLast = layout.channel > layout.height;
  for (int c = 0; c < layout.channels; ++c) {
    int source = options.bgr ? layout.channels - 1 - c : c;
    double mean = perChannel(options.mean, c, 0), deviation = perChannel(options.deviation, c, 1);
    for (int64_t i = 0; i < plane; ++i) {
      double pixel = planes[source * plane + i];
      double value = raw ? std::nearbyint(pixel) : (pixel / 255 - mean) / deviation;
      setElement(*tensor, channelsLast ? i * layout.channels + c : c * plane + i, value);
    }
  }
  return tensor;
}

} // namespace dlc::cli
