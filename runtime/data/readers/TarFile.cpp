#include "runtime/data/readers/TarFile.h"

#include "runtime/data/Failure.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace dlc::data {

namespace {

constexpr uint64_t kBlock = 512;
constexpr uint64_t kLongestName = 1 << 16;

/// A field of a header: where it is, how long it is.
struct Part {
  size_t offset, size;
};
constexpr Part kName = {0, 100}, kSize = {124, 12}, kChecksum = {148, 8}, kMagic = {257, 5},
               kPrefix = {345, 155};
constexpr size_t kType = 156;

using Header = std::span<const uint8_t, kBlock>;

/// Up to the first null.
std::string text(Header header, Part part) {
  auto field = header.subspan(part.offset, part.size);
  return std::string(field.begin(), std::ranges::find(field, 0));
}

/// Octal digits, or, with the top bit set, a big-endian number.
std::optional<uint64_t> number(Header header, Part part) {
  auto field = header.subspan(part.offset, part.size);
  uint64_t value = 0;
  if (field[0] & 0x80) {
    for (size_t i = 0; i < field.size(); ++i) {
      if (value >> 55)
        return std::nullopt;
      value = value << 8 | (i == 0 ? field[i] & 0x7f : field[i]);
    }
    return value;
  }
  size_t i = 0;
  while (i < field.size() && field[i] == ' ')
    ++i;
  for (; i < field.size() && field[i] >= '0' && field[i] <= '7'; ++i) {
    if (value >> 60)
      return std::nullopt;
    value = value * 8 + (field[i] - '0');
  }
  bool ended = i == field.size() || field[i] == 0 || field[i] == ' ';
  return ended ? std::optional(value) : std::nullopt;
}

bool checksumIsRight(Header header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    sum += own ? ' ' : header[i];
  }
  return number(header, kChecksum) == sum;
}

/// Values that a pax header sets for the member after it: lines of "length key=value".
struct Overrides {
  std::string name;
  std::optional<uint64_t> size;
};

void readPax(std::string_view lines, Overrides &overrides, const std::string &path) {
  while (!lines.empty() && lines[0] != '\0') {
    size_t length = 0;
    auto [end, error] = std::from_chars(lines.data(), lines.data() + lines.size(), length);
    size_t digits = end - lines.data();
    if (error != std::errc() || length > lines.size() || length < digits + 2)
      fail(DLC_USAGE, path, ": a broken pax header");
    std::string_view line = lines.substr(digits + 1, length - digits - 2); // without space and end
    lines.remove_prefix(length);
    if (line.starts_with("path="))
      overrides.name = line.substr(5);
    if (line.starts_with("size=")) {
      uint64_t size = 0;
      std::from_chars(line.data() + 5, line.data() + line.size(), size);
      overrides.size = size;
    }
  }
}

std::string fullName(Header header) {
  std::string name = text(header, kName);
  if (text(header, kMagic) != "ustar")
    return name;
  std::string prefix = text(header, kPrefix);
  return prefix.empty() ? name : prefix + "/" + name;
}

} // namespace

TarFile::TarFile(const std::string &path) : path(path), file(std::make_unique<cli::MappedFile>(path)) {
  std::span<const uint8_t> start = bytes();
  if (start.size() >= 2 && start[0] == 0x1f && start[1] == 0x8b)
    fail(DLC_UNSUPPORTED, path, ": a compressed tar archive; shards must be uncompressed");
}

bool TarFile::next(TarMember &member) {
  Overrides overrides;
  while (position < bytes().size()) {
    uint64_t at = position, left = bytes().size() - at;
    if (left < kBlock)
      fail(DLC_USAGE, path, ": truncated: ", left, " bytes at ", at, " are no tar header");
    Header header(bytes().subspan(at).first<kBlock>());
    if (std::ranges::all_of(header, [](uint8_t byte) { return byte == 0; }))
      return false;
    if (!checksumIsRight(header))
      fail(DLC_USAGE, path, ": not a tar archive, or broken: wrong header checksum at byte ", at);
    std::optional<uint64_t> size = overrides.size ? overrides.size : number(header, kSize);
    if (!size || *size > left - kBlock)
      fail(DLC_USAGE, path, ": truncated: the member at byte ", at, " claims ", size.value_or(UINT64_MAX),
           " bytes, ", left - kBlock, " are there");
    uint64_t padded = (*size + kBlock - 1) / kBlock * kBlock;
    position = at + kBlock + std::min(padded, left - kBlock);
    auto data = bytes().subspan(at + kBlock, *size);
    uint8_t type = header[kType];
    if ((type == 'L' || type == 'x') && *size > kLongestName)
      fail(DLC_USAGE, path, ": a name or extended header of ", *size, " bytes at byte ", at);
    if (type == 'L') {
      overrides.name.assign(data.begin(), std::ranges::find(data, 0));
    } else if (type == 'x') {
      readPax({reinterpret_cast<const char *>(data.data()), data.size()}, overrides, path);
    } else if (type == '0' || type == '\0' || type == '7') {
      member = {overrides.name.empty() ? fullName(header) : overrides.name, at + kBlock, *size};
      return true;
    } else {
      overrides = {}; // folders, links and global headers have no data of a sample
    }
  }
  return false;
}

} // namespace dlc::data
