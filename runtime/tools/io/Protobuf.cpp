#include "runtime/tools/io/Protobuf.h"

#include "runtime/tools/io/Error.h"

namespace dlc::cli {

std::span<const uint8_t> WireReader::take(uint64_t size) {
  if (size > bytes.size())
    fail(DLC_USAGE, file, ": truncated or not a protobuf message: a field claims ", size,
         " bytes, ", bytes.size(), " are left");
  std::span<const uint8_t> result = bytes.first(size);
  bytes = bytes.subspan(size);
  return result;
}

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    uint8_t byte = take(1)[0];
    if (shift == 63 && byte > 1)
      break;
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  fail(DLC_USAGE, file, ": not a protobuf message: a number is longer than 64 bits");
}

uint64_t WireReader::fixed(size_t width) {
  std::span<const uint8_t> data = take(width);
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= uint64_t(data[i]) << (8 * i);
  return value;
}

WireField WireReader::next() {
  uint64_t tag = varint();
  WireField field{tag >> 3, static_cast<WireType>(tag & 7), 0, {}};
  if (field.number == 0 || field.number >= 1u << 29)
    fail(DLC_USAGE, file, ": not a protobuf message: field number ", field.number);
  switch (field.type) {
  case WireType::Varint: field.value = varint(); return field;
  case WireType::Fixed64: field.value = fixed(8); return field;
  case WireType::Fixed32: field.value = fixed(4); return field;
  case WireType::Bytes: field.bytes = take(varint()); return field;
  }
  fail(DLC_USAGE, file, ": not a protobuf message: field ", field.number,
       " has wire type ", tag & 7);
}

} // namespace dlc::cli
