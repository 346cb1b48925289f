#include "runtime/tools/io/Image.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Resize.h"

#include <algorithm>
#include <cmath>

namespace dlc::cli {

namespace {

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

/// The level of a channel; of the only one: gray, by ITU-R 601 as every image library has it.
double levelOf(const float *pixel, int channels, int channel) {
  return channels == 1 ? 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2] : pixel[channel];
}

} // namespace

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
  std::vector<float> pixels(static_cast<size_t>(plane * 3));
  Resizer().resize({image.pixels.data(), image.height, image.width, 3, size_t(image.width) * 3},
                   static_cast<int>(height), static_cast<int>(width), pixels.data());
  Tensor tensor = makeTensor(target.type, dims, target.name);
  bool channelsLast = layout.channel > layout.height;
  for (int c = 0; c < layout.channels; ++c) {
    int source = options.bgr ? layout.channels - 1 - c : c;
    double mean = perChannel(options.mean, c, 0), deviation = perChannel(options.deviation, c, 1);
    for (int64_t i = 0; i < plane; ++i) {
      double pixel = levelOf(&pixels[i * 3], layout.channels, source);
      double value = raw ? std::nearbyint(pixel) : (pixel / 255 - mean) / deviation;
      setElement(*tensor, channelsLast ? i * layout.channels + c : c * plane + i, value);
    }
  }
  return tensor;
}

} // namespace dlc::cli
