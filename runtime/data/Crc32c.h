// The Castagnoli checksum, as TFRecord has it.

#ifndef DLC_RUNTIME_DATA_CRC32C_H
#define DLC_RUNTIME_DATA_CRC32C_H

#include <cstdint>
#include <span>

namespace dlc::data {

uint32_t crc32c(std::span<const uint8_t> bytes);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_CRC32C_H
