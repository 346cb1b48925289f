// Writes protobuf's wire format, so that tests can make broken messages, too.

#ifndef DLC_TEST_FRONTENDS_ONNX_WIRE_H
#define DLC_TEST_FRONTENDS_ONNX_WIRE_H

#include <cstdint>
#include <string>

namespace dlc::onnx::test {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += char(value | 0x80);
  return bytes + char(value);
}

inline std::string number(uint32_t field, uint64_t value) {
  return varint(uint64_t(field) << 3) + varint(value);
}

inline std::string bytes(uint32_t field, const std::string &value) {
  return varint(uint64_t(field) << 3 | 2) + varint(value.size()) + value;
}

/// NodeProto with one input and one output.
inline std::string node(const std::string &op, const std::string &in, const std::string &out) {
  return bytes(1, in) + bytes(2, out) + bytes(4, op);
}

inline std::string opset(uint64_t version) { return bytes(8, number(2, version)); }

} // namespace dlc::onnx::test

#endif // DLC_TEST_FRONTENDS_ONNX_WIRE_H
