#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Image.h"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h, which it needs.
#include <jerror.h>
#include <png.h>

namespace dlc::cli {

namespace {

constexpr int64_t kMostPixels = 1 << 28;

Image blank(int64_t width, int64_t height, const std::string &path) {
  if (width <= 0 || height <= 0 || width > kMostPixels / height)
    fail(DLC_USAGE, path, ": a picture of ", width, " x ", height,
         " pixels; at most ", kMostPixels, " are read");
  return {static_cast<int>(width), static_cast<int>(height),
          std::vector<uint8_t>(static_cast<size_t>(width * height * 3))};
}

Image readPng(std::span<const uint8_t> bytes, const std::string &path) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    fail(DLC_USAGE, path, ": not a readable PNG: ", png.message);
  png.format = PNG_FORMAT_RGB;
  Image image;
  try {
    image = blank(png.width, png.height, path);
  } catch (...) {
    png_image_free(&png);
    throw;
  }
  png_color black = {}; // shows through where the picture is transparent
  if (!png_image_finish_read(&png, &black, image.pixels.data(), 0, nullptr))
    fail(DLC_USAGE, path, ": not a readable PNG: ", png.message);
  return image;
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

/// Decodes into `image`, whose pixels `reserve` makes. Nothing here has a
/// destructor: libjpeg leaves by longjmp.
bool decodeJpeg(jpeg_decompress_struct &jpeg, JpegErrors &errors,
                std::span<const uint8_t> bytes, Image &image,
                bool (*reserve)(Image &, int64_t width, int64_t height)) {
  if (setjmp(errors.escape))
    return false;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, bytes.data(), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_RGB;
  if (!reserve(image, jpeg.image_width, jpeg.image_height))
    return false;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = image.pixels.data() + size_t(jpeg.output_scanline) * image.width * 3;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

Image readJpeg(std::span<const uint8_t> bytes, const std::string &path) {
  jpeg_decompress_struct jpeg = {};
  JpegErrors errors = {};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = leaveJpeg;
  errors.manager.emit_message = refuseTruncation;
  Image image;
  bool decoded = decodeJpeg(jpeg, errors, bytes, image,
                            [](Image &image, int64_t width, int64_t height) {
                              if (width <= 0 || height <= 0 || width > kMostPixels / height)
                                return false;
                              image = blank(width, height, "");
                              return true;
                            });
  jpeg_destroy_decompress(&jpeg);
  if (!decoded)
    fail(DLC_USAGE, path, ": not a readable JPEG: ",
         *errors.message ? errors.message : "too large");
  return image;
}

} // namespace

Image readImage(const std::string &path) {
  MappedFile file(path);
  std::span<const uint8_t> bytes = file.bytes();
  if (bytes.size() >= 8 && png_sig_cmp(bytes.data(), 0, 8) == 0)
    return readPng(bytes, path);
  if (bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff)
    return readJpeg(bytes, path);
  fail(DLC_UNSUPPORTED, path, ": neither PNG nor JPEG");
}

} // namespace dlc::cli
