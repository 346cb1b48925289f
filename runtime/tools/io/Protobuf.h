// Just enough of protobuf's wire format to read ONNX TensorProto files: the
// runtime links no protobuf.

#ifndef DLC_RUNTIME_TOOLS_IO_PROTOBUF_H
#define DLC_RUNTIME_TOOLS_IO_PROTOBUF_H

#include "runtime/tools/io/Tensor.h"

#include <string_view>

namespace dlc::cli {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  uint64_t number;
  WireType type;
  uint64_t value;                 // Varint, Fixed64, Fixed32
  std::span<const uint8_t> bytes; // Bytes
};

/// Walks the fields of one message; every length is checked against what is left.
class WireReader {
public:
  WireReader(std::span<const uint8_t> bytes, std::string_view file)
      : bytes(bytes), file(file) {}

  bool done() const { return bytes.empty(); }
  WireField next();
  uint64_t varint();
  uint64_t fixed(size_t width);

private:
  std::span<const uint8_t> take(uint64_t size);
  std::span<const uint8_t> bytes;
  std::string_view file;
};

/// A serialized TensorProto. Strings, sequences and types that dlc has not are
/// refused as unsupported.
NamedTensor readTensorProto(const std::string &path);
NamedTensor parseTensorProto(std::span<const uint8_t> bytes, const std::string &file);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_PROTOBUF_H
