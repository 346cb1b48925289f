// Encoded pictures for tests and benchmarks of the data pipeline.

#ifndef DLC_TEST_DATA_PICTURES_H
#define DLC_TEST_DATA_PICTURES_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::test {

/// RGB levels that rise along both axes, from `shift` on.
std::vector<uint8_t> gradient(int width, int height, int shift);
/// Such pictures, encoded.
std::string png(int width, int height, int shift = 0);
std::string jpeg(int width, int height, int shift = 0);
std::string jpegOf(int width, int height, const std::vector<uint8_t> &pixels);

} // namespace dlc::test

#endif // DLC_TEST_DATA_PICTURES_H
