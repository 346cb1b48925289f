#include "runtime/data/Crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace dlc::data {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78; // bits reversed
using Tables = std::array<std::array<uint32_t, 256>, 8>;

/// Table k: what a byte that is followed by k others adds.
constexpr Tables makeTables() {
  Tables tables = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (size_t k = 1; k < 8; ++k)
    for (uint32_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}

constexpr Tables kTables = makeTables();
static_assert(std::endian::native == std::endian::little);

} // namespace

uint32_t crc32c(std::span<const uint8_t> bytes) {
  uint32_t crc = ~0u;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= crc;
    crc = 0;
    for (int k = 0; k < 8; ++k)
      crc ^= kTables[7 - k][word >> (8 * k) & 0xff];
  }
  for (uint8_t byte : bytes)
    crc = crc >> 8 ^ kTables[0][(crc ^ byte) & 0xff];
  return ~crc;
}

} // namespace dlc::data
