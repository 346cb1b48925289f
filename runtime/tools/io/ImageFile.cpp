#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Image.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h, which it needs.
#include <jerror.h>
#include <png.h>

namespace dlc::cli {

namespace {

constexpr int64_t kMostPixels = 1 << 28;
/// What a byte of a compressed picture can stand for at most: deflate's best ratio, eight
/// pixels of one bit to a byte. JPEG stays below.
constexpr int64_t kMostPixelsPerByte = 1032 * 8;

bool isBelievable(int64_t width, int64_t height, size_t bytes) {
  return width > 0 && height > 0 && width <= kMostPixels / height &&
         width * height / kMostPixelsPerByte <= static_cast<int64_t>(bytes);
}

[[noreturn]] void failSize(int64_t width, int64_t height, size_t bytes, const std::string &name) {
  fail(DLC_USAGE, name, ": a picture of ", width, " x ", height, " pixels in ", bytes,
       " bytes; at most ", kMostPixels, " pixels are read");
}

void decodePng(std::span<const uint8_t> bytes, const std::string &name, const PixelMemory &memory) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    fail(DLC_USAGE, name, ": not a readable PNG: ", png.message);
  png.format = PNG_FORMAT_RGB;
  uint8_t *pixels = nullptr;
  try {
    if (!isBelievable(png.width, png.height, bytes.size()))
      failSize(png.width, png.height, bytes.size(), name);
    pixels = memory(static_cast<int>(png.width), static_cast<int>(png.height));
  } catch (...) {
    png_image_free(&png);
    throw;
  }
  png_color black = {}; // shows through where the picture is transparent
  if (!png_image_finish_read(&png, &black, pixels, 0, nullptr))
    fail(DLC_USAGE, name, ": not a readable PNG: ", png.message);
}

struct JpegErrors {
  jpeg_error_mgr manager;
  jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

void leaveJpeg(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->message);
  longjmp(errors->escape, 1);
}

/// libjpeg only warns of a picture that ends early, and fills the rest with gray.
void refuseTruncation(j_common_ptr info, int level) {
  int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
    leaveJpeg(info);
}

/// One decompressor, driven in two steps. Nothing in them has a destructor: libjpeg
/// leaves by longjmp.
class JpegDecoder {
public:
  JpegDecoder() {
    jpeg.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leaveJpeg;
    errors.manager.emit_message = refuseTruncation;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg); }

  bool readHeader(std::span<const uint8_t> bytes, int smallestSide) {
    if (setjmp(errors.escape))
      return false;
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes.data(), bytes.size());
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    if (smallestSide > 0)
      while (jpeg.scale_denom < 8 && std::min(jpeg.image_width, jpeg.image_height) /
                                             (2 * jpeg.scale_denom) >= unsigned(smallestSide))
        jpeg.scale_denom *= 2;
    jpeg_calc_output_dimensions(&jpeg);
    return true;
  }
  bool readPixels(uint8_t *pixels) {
    if (setjmp(errors.escape))
      return false;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = pixels + size_t(jpeg.output_scanline) * jpeg.output_width * 3;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    return true;
  }

  jpeg_decompress_struct jpeg = {};
  JpegErrors errors = {};
};

void decodeJpeg(std::span<const uint8_t> bytes, const std::string &name, const PixelMemory &memory,
                int smallestSide) {
  JpegDecoder decoder;
  if (!decoder.readHeader(bytes, smallestSide))
    fail(DLC_USAGE, name, ": not a readable JPEG: ", decoder.errors.message);
  const jpeg_decompress_struct &jpeg = decoder.jpeg;
  if (!isBelievable(jpeg.image_width, jpeg.image_height, bytes.size()))
    failSize(jpeg.image_width, jpeg.image_height, bytes.size(), name);
  uint8_t *pixels = memory(static_cast<int>(jpeg.output_width), static_cast<int>(jpeg.output_height));
  if (!decoder.readPixels(pixels))
    fail(DLC_USAGE, name, ": not a readable JPEG: ", decoder.errors.message);
}

} // namespace

void decodeImage(std::span<const uint8_t> bytes, const std::string &name, const PixelMemory &memory,
                 int smallestSide) {
  if (bytes.size() >= 8 && png_sig_cmp(bytes.data(), 0, 8) == 0)
    return decodePng(bytes, name, memory);
  if (bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff)
    return decodeJpeg(bytes, name, memory, smallestSide);
  fail(DLC_UNSUPPORTED, name, ": neither PNG nor JPEG");
}

Image readImage(const std::string &path) {
  MappedFile file(path);
  Image image;
  decodeImage(file.bytes(), path, [&](int width, int height) {
    image = {width, height, std::vector<uint8_t>(size_t(width) * height * 3)};
    return image.pixels.data();
  });
  return image;
}

} // namespace dlc::cli
