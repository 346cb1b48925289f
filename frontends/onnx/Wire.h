// A bounds-checked reader of the protobuf wire format. Strings are views into
// the file, so that weights are never copied; libprotobuf would copy them.

#ifndef DLC_FRONTENDS_ONNX_WIRE_H
#define DLC_FRONTENDS_ONNX_WIRE_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dlc::onnx {

/// One message. After any malformed byte, `ok()` is false and nothing follows.
class WireReader {
public:
  explicit WireReader(std::string_view bytes) : rest(bytes) {}

  bool ok() const { return valid; }

  /// Moves to the next field; false at the end or after an error.
  bool next() {
    if (!valid || rest.empty())
      return false;
    uint64_t key = varint();
    field = uint32_t(key >> 3);
    type = int(key & 7);
    if (valid && (key >> 35 || field == 0))
      valid = false;
    return valid;
  }

  uint32_t field = 0;
  int type = 0; // 0 varint, 1 64-bit, 2 bytes, 5 32-bit

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty())
        return fail();
      unsigned char byte = rest.front();
      rest.remove_prefix(1);
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    return fail();
  }
  template <typename T> T fixed() {
    T value{};
    if (rest.size() < sizeof(T))
      return fail(), value;
    std::memcpy(&value, rest.data(), sizeof(T));
    rest.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view bytes() {
    uint64_t size = varint();
    if (!valid || size > rest.size())
      return fail(), std::string_view();
    std::string_view result = rest.substr(0, size);
    rest.remove_prefix(size);
    return result;
  }
  /// A value whose wire type must be the expected one.
  int64_t integer() { return type == 0 ? int64_t(varint()) : int64_t(fail()); }
  float real() { return type == 5 ? fixed<float>() : float(fail()); }
  std::string_view text() { return type == 2 ? bytes() : (fail(), std::string_view()); }
  void skip() {
    switch (type) {
    case 0: varint(); break;
    case 1: fixed<uint64_t>(); break;
    case 2: bytes(); break;
    case 5: fixed<uint32_t>(); break;
    default: fail();
    }
  }
  /// A repeated scalar, packed or not.
  template <typename T, typename List> void scalars(List &list) {
    if (type == 2) {
      WireReader packed(bytes());
      while (packed.valid && !packed.rest.empty())
        list.push_back(packed.scalar<T>());
      valid = valid && packed.valid;
    } else {
      list.push_back(scalar<T>());
    }
  }
  uint64_t fail() {
    valid = false;
    return 0;
  }

private:
  template <typename T> T scalar() {
    if constexpr (std::is_floating_point_v<T>)
      return fixed<T>();
    else
      return T(varint());
  }

  std::string_view rest;
  bool valid = true;
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_WIRE_H
