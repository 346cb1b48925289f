// The fixed head of an artifact file, before the FlatBuffers table.

#ifndef DLC_RUNTIME_SCHEMA_FORMAT_H
#define DLC_RUNTIME_SCHEMA_FORMAT_H

#include <cstdint>

namespace dlc::schema {

inline constexpr char kMagic[8] = {'D', 'L', 'C', 'A', 'R', 'T', '\r', '\n'};
/// Readers accept versions up to this one, and refuse newer ones by name. Writers
/// write the lowest version that holds what they write: 1, or 2 for one with states
/// or several entries.
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr uint64_t kPageBytes = 4096;
/// "None" for optional table indices.
inline constexpr uint32_t kNone = 0xffffffffu;

struct FileHeader {
  char magic[8];
  uint32_t formatVersion;
  uint32_t headerBytes;   // sizeof(FileHeader)
  uint64_t tableOffset;   // the FlatBuffers table
  uint64_t tableBytes;
  uint64_t fileBytes;     // a shorter file is truncated
  uint64_t contentHash;   // XXH64-like hash of everything after the header
  uint64_t tableHash;     // of the table, checked at every load; 0: absent
  uint64_t reserved;
};
static_assert(sizeof(FileHeader) == 64);

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_FORMAT_H
