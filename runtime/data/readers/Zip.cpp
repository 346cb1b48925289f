#include "runtime/data/readers/Zip.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <zlib.h>

namespace dlc::data {

namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kEntry = 0x02014b50,
                   kLocal = 0x04034b50;
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr uint32_t kInExtra = 0xffffffff; // the value is 64 bits wide, in the extra field

/// A number of the archive; 0 beyond its end, which no signature and no size check accepts.
template <typename T> T load(std::span<const uint8_t> bytes, uint64_t at) {
  T value = 0;
  if (at <= bytes.size() && bytes.size() - at >= sizeof(T))
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<std::span<const uint8_t>> part(std::span<const uint8_t> bytes, uint64_t at, uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at)
    return std::nullopt;
  return bytes.subspan(at, size);
}

struct Directory {
  uint64_t count = 0, offset = 0;
};

std::optional<Directory> findDirectory(std::span<const uint8_t> archive) {
  constexpr size_t longestComment = 0xffff;
  if (archive.size() < kEndBytes)
    return std::nullopt;
  size_t last = archive.size() - kEndBytes, first = last - std::min(last, longestComment);
  for (size_t at = last + 1; at-- > first;) {
    if (load<uint32_t>(archive, at) != kEnd || at + kEndBytes + load<uint16_t>(archive, at + 20) != archive.size())
      continue;
    Directory directory{load<uint16_t>(archive, at + 10), load<uint32_t>(archive, at + 16)};
    if (directory.count != 0xffff && directory.offset != kInExtra)
      return directory;
    if (at < kLocatorBytes || load<uint32_t>(archive, at - kLocatorBytes) != kLocator64)
      return std::nullopt;
    auto end64 = load<uint64_t>(archive, at - kLocatorBytes + 8);
    if (!part(archive, end64, kEnd64Bytes) || load<uint32_t>(archive, end64) != kEnd64)
      return std::nullopt;
    return Directory{load<uint64_t>(archive, end64 + 32), load<uint64_t>(archive, end64 + 48)};
  }
  return std::nullopt;
}

/// Sizes and place of an entry, 64 bits wide where 32 do not do.
struct Extent {
  uint64_t size, compressed, offset;
};

bool readExtra(std::span<const uint8_t> extra, Extent &extent) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    size_t size = load<uint16_t>(extra, at + 2);
    if (load<uint16_t>(extra, at) == 1) {
      uint64_t next = at + 4, end = next + size;
      for (uint64_t *value : {&extent.size, &extent.compressed, &extent.offset})
        if (*value == kInExtra) {
          if (next + 8 > std::min<uint64_t>(end, extra.size()))
            return false;
          *value = load<uint64_t>(extra, next);
          next += 8;
        }
      return true;
    }
    at += 4 + size;
  }
  return extent.size != kInExtra && extent.compressed != kInExtra && extent.offset != kInExtra;
}

/// Reads the directory's entry at `at` and moves on to the next.
std::optional<StoredEntry> readEntry(std::span<const uint8_t> archive, uint64_t &at) {
  constexpr uint16_t encrypted = 1, stored = 0;
  if (!part(archive, at, kEntryBytes) || load<uint32_t>(archive, at) != kEntry ||
      load<uint16_t>(archive, at + 8) & encrypted || load<uint16_t>(archive, at + 10) != stored)
    return std::nullopt;
  uint64_t nameBytes = load<uint16_t>(archive, at + 28), extraBytes = load<uint16_t>(archive, at + 30);
  auto name = part(archive, at + kEntryBytes, nameBytes), extra = part(archive, at + kEntryBytes + nameBytes, extraBytes);
  Extent extent{load<uint32_t>(archive, at + 24), load<uint32_t>(archive, at + 20), load<uint32_t>(archive, at + 42)};
  if (!name || !extra || !readExtra(*extra, extent) || extent.size != extent.compressed ||
      !part(archive, extent.offset, kLocalBytes) || load<uint32_t>(archive, extent.offset) != kLocal)
    return std::nullopt;
  uint64_t data = extent.offset + kLocalBytes + load<uint16_t>(archive, extent.offset + 26) +
                  load<uint16_t>(archive, extent.offset + 28);
  auto bytes = part(archive, data, extent.size);
  if (!bytes)
    return std::nullopt;
  uint32_t crc = load<uint32_t>(archive, at + 16);
  at += kEntryBytes + nameBytes + extraBytes + load<uint16_t>(archive, at + 32);
  return StoredEntry{std::string(name->begin(), name->end()), *bytes, crc};
}

} // namespace

std::vector<StoredEntry> storedEntries(std::span<const uint8_t> archive) {
  constexpr uint64_t most = 1 << 16;
  std::optional<Directory> directory = findDirectory(archive);
  if (!directory || directory->count > most)
    return {};
  std::vector<StoredEntry> entries;
  uint64_t at = directory->offset, total = 0;
  for (uint64_t i = 0; i < directory->count; ++i) {
    std::optional<StoredEntry> entry = readEntry(archive, at);
    // Entries that lie one over the other would be more than the file.
    if (!entry || (total += entry->bytes.size()) > archive.size())
      return {};
    entries.push_back(std::move(*entry));
  }
  return entries;
}

bool checksumIsRight(const StoredEntry &entry) {
  return crc32_z(0, entry.bytes.data(), entry.bytes.size()) == entry.crc;
}

} // namespace dlc::data
