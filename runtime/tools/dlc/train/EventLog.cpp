#include "runtime/tools/dlc/train/EventLog.h"

#include "runtime/data/Crc32c.h"
#include "runtime/tools/io/Error.h"

#include <chrono>
#include <cstring>
#include <filesystem>

namespace dlc::cli {

namespace {

// Field numbers of Event, Summary and Summary.Value, with their wire types.
constexpr char kWallTime = 1 << 3 | 1, kStep = 2 << 3, kFileVersion = 3 << 3 | 2, kSummary = 5 << 3 | 2,
               kValue = 1 << 3 | 2, kTag = 1 << 3 | 2, kSimpleValue = 2 << 3 | 5;

template <typename T> std::string raw(T value) { // little endian
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string lengthPrefixed(char field, const std::string &bytes) { return field + varint(bytes.size()) + bytes; }

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// TFRecord's: a checksum of data that hold checksums must not be one of theirs.
std::string maskedChecksum(const std::string &bytes) {
  uint32_t crc = data::crc32c({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  return raw<uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u);
}

} // namespace

EventLog::EventLog(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  path = folder + "/events.out.tfevents." + std::to_string(static_cast<int64_t>(now() * 1e6)) + ".dlc";
  file.open(path, std::ios::binary);
  record(kWallTime + raw(now()) + lengthPrefixed(kFileVersion, "brain.Event:2"));
  flush();
}

void EventLog::scalar(const std::string &tag, int64_t step, double value) {
  std::string scalar = lengthPrefixed(kTag, tag) + kSimpleValue + raw(static_cast<float>(value));
  record(kWallTime + raw(now()) + kStep + varint(static_cast<uint64_t>(step)) +
         lengthPrefixed(kSummary, lengthPrefixed(kValue, scalar)));
}

void EventLog::record(const std::string &event) {
  std::string length = raw<uint64_t>(event.size());
  file << length << maskedChecksum(length) << event << maskedChecksum(event);
}

void EventLog::flush() {
  if (!file.flush())
    fail(DLC_USAGE, path, ": cannot write: ", std::strerror(errno));
}

} // namespace dlc::cli
