#include "test/data/Pictures.h"

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>
#include <png.h>

namespace dlc::test {

std::vector<uint8_t> gradient(int width, int height, int shift) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        pixels.push_back(static_cast<uint8_t>(shift + 3 * x + 2 * y + 20 * c));
  return pixels;
}

std::string png(int width, int height, int shift) {
  std::vector<uint8_t> pixels = gradient(width, height, shift);
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 1 << 20;
  std::string out(bytes, '\0');
  png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr);
  out.resize(bytes);
  return out;
}

std::string jpeg(int width, int height, int shift) {
  return jpegOf(width, height, gradient(width, height, shift));
}

std::string jpegOf(int width, int height, const std::vector<uint8_t> &pixels) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = width;
  info.image_height = height;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(&pixels[size_t(info.next_scanline) * width * 3]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<char *>(bytes), size);
  jpeg_destroy_compress(&info);
  free(bytes);
  return out;
}

} // namespace dlc::test
