// Where a zip archive's entries lie when they are stored without compression, so that
// they can be used in place. Everything else about zip is libzip's business.

#ifndef DLC_RUNTIME_DATA_READERS_ZIP_H
#define DLC_RUNTIME_DATA_READERS_ZIP_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlc::data {

struct StoredEntry {
  std::string name;
  std::span<const uint8_t> bytes;
  uint32_t crc;
};

/// The entries of an archive; none if one is compressed or anything is unusual or wrong.
std::vector<StoredEntry> storedEntries(std::span<const uint8_t> archive);

bool checksumIsRight(const StoredEntry &entry);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_READERS_ZIP_H
