// Pictures as network inputs: decoded by libpng and libjpeg, resized, laid out.

#ifndef DLC_RUNTIME_TOOLS_IO_IMAGE_H
#define DLC_RUNTIME_TOOLS_IO_IMAGE_H

#include "runtime/tools/io/Tensor.h"

#include <functional>

namespace dlc::cli {

/// Eight-bit RGB, row-major.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

/// PNG or JPEG, told apart by its first bytes.
Image readImage(const std::string &path);

/// Gives memory for width x height RGB pixels.
using PixelMemory = std::function<uint8_t *(int width, int height)>;
/// Decodes bytes, which `name` names in errors, into memory that is asked for once the
/// size is known and believable. Less than `smallestSide` of a side need not be kept: a
/// JPEG that is at least twice that is decoded at a half, a quarter or an eighth.
void decodeImage(std::span<const uint8_t> bytes, const std::string &name, const PixelMemory &memory,
                 int smallestSide = 0);

struct ImageOptions {
  std::vector<double> mean, deviation; // per channel or one for all; empty: 0 and 1
  bool bgr = false;
};

/// What an input wants: -1 where the size is free.
struct ImageTarget {
  dlc_type type;
  Dims dims; // [N,C,H,W], [N,H,W,C], [C,H,W] or [H,W,C]
  std::string name;
};

/// Resizes (bilinear, averaging when it shrinks) and converts to the layout that
/// the dims show: C is 1 or 3. Floats are (pixel / 255 - mean) / deviation;
/// u8 inputs get the pixels as they are.
Tensor imageTensor(const Image &image, const ImageTarget &target,
                   const ImageOptions &options);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_IMAGE_H
