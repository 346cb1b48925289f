// Works on protobuf's wire format: what it does not know it copies.

#include "runtime/tools/io/OnnxWeights.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Protobuf.h"

#include <string_view>

namespace dlc::cli {

namespace {

// Field numbers of onnx.proto.
enum Model { ModelGraph = 7 };
enum Graph { GraphNode = 1, GraphInitializer = 5 };
enum Node { NodeInput = 1, NodeOutput = 2, NodeOpType = 4, NodeAttribute = 5 };
enum Attribute { AttributeName = 1 };
enum TensorField {
  TensorDims = 1, TensorType = 2, TensorName = 8, TensorRawData = 9, TensorExternal = 13
};

std::string_view text(const WireField &field) {
  return {reinterpret_cast<const char *>(field.bytes.data()), field.bytes.size()};
}

class WireWriter {
public:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
  void tag(uint64_t number, WireType type) { varint(number << 3 | static_cast<uint64_t>(type)); }
  void number(uint64_t field, uint64_t value) {
    tag(field, WireType::Varint);
    varint(value);
  }
  void bytes(uint64_t field, std::string_view value) {
    tag(field, WireType::Bytes);
    varint(value.size());
    out += value;
  }
  void copy(const WireField &field) {
    if (field.type == WireType::Bytes)
      return bytes(field.number, text(field));
    if (field.type == WireType::Varint)
      return number(field.number, field.value);
    tag(field.number, field.type);
    out.append(reinterpret_cast<const char *>(&field.value), field.type == WireType::Fixed64 ? 8 : 4);
  }
  std::string out;
};

class Exporter {
public:
  Exporter(const std::string &file, const std::map<std::string, const dlc_tensor *> &weights)
      : file(file), weights(weights) {}

  std::string model(std::span<const uint8_t> bytes) {
    return rewrite(bytes, [&](const WireField &field, WireWriter &out) {
      if (field.number == ModelGraph && field.type == WireType::Bytes)
        out.bytes(ModelGraph, graph(field.bytes));
      else
        out.copy(field);
    });
  }

private:
  template <typename Visit> std::string rewrite(std::span<const uint8_t> bytes, Visit visit) {
    WireWriter out;
    for (WireReader reader(bytes, file); !reader.done();)
      visit(reader.next(), out);
    return std::move(out.out);
  }

  std::string graph(std::span<const uint8_t> bytes) {
    return rewrite(bytes, [&](const WireField &field, WireWriter &out) {
      if (field.number == GraphNode && field.type == WireType::Bytes)
        out.bytes(GraphNode, node(field.bytes));
      else if (field.number == GraphInitializer && field.type == WireType::Bytes)
        out.bytes(GraphInitializer, initializer(field.bytes));
      else
        out.copy(field);
    });
  }

  std::string_view find(std::span<const uint8_t> bytes, uint64_t number) {
    std::string_view found;
    for (WireReader reader(bytes, file); !reader.done();)
      if (WireField field = reader.next(); field.number == number && field.type == WireType::Bytes)
        found = text(field);
    return found;
  }

  /// BatchNormalization keeps its first output and loses `training_mode`; Dropout loses
  /// its third input, which says the same.
  std::string node(std::span<const uint8_t> bytes) {
    std::string_view op = find(bytes, NodeOpType);
    bool isNorm = op == "BatchNormalization", isDropout = op == "Dropout";
    if (!isNorm && !isDropout)
      return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    int inputs = 0, outputs = 0;
    return rewrite(bytes, [&](const WireField &field, WireWriter &out) {
      bool isDropped = (field.number == NodeInput && ++inputs > 2 && isDropout) ||
                       (field.number == NodeOutput && ++outputs > 1 && isNorm) ||
                       (field.number == NodeAttribute && isNorm && field.type == WireType::Bytes &&
                        find(field.bytes, AttributeName) == "training_mode");
      if (!isDropped)
        out.copy(field);
    });
  }

  std::string initializer(std::span<const uint8_t> bytes) {
    std::string name(find(bytes, TensorName));
    auto found = weights.find(name);
    if (found == weights.end()) {
      if (!find(bytes, TensorExternal).empty())
        fail(DLC_UNSUPPORTED, file, ": initializer ", inQuotes(name), " lies in another file and was "
             "not trained; such models are not exported");
      return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    }
    const dlc_tensor &weight = *found->second;
    WireWriter out;
    for (int64_t size : dimsOf(weight))
      out.number(TensorDims, static_cast<uint64_t>(size));
    constexpr uint64_t f32 = 1, f64 = 11; // TensorProto.DataType
    out.number(TensorType, dlc_tensor_type(&weight) == DLC_F64 ? f64 : f32);
    out.bytes(TensorName, name);
    auto data = bytesOf(weight);
    out.bytes(TensorRawData, {reinterpret_cast<const char *>(data.data()), data.size()});
    return std::move(out.out);
  }

  const std::string &file;
  const std::map<std::string, const dlc_tensor *> &weights;
};

} // namespace

void exportOnnx(const std::string &from, const std::string &to,
                const std::map<std::string, const dlc_tensor *> &weights) {
  for (const auto &[name, tensor] : weights)
    if (dlc_tensor_type(tensor) != DLC_F32 && dlc_tensor_type(tensor) != DLC_F64)
      fail(DLC_UNSUPPORTED, to, ": ", inQuotes(name), " is ", typeText(*tensor), "; f32 and f64 are exported");
  MappedFile file(from);
  std::string model = Exporter(from, weights).model(file.bytes());
  constexpr size_t most = (size_t(1) << 31) - 1; // what protobuf reads
  if (model.size() > most)
    fail(DLC_UNSUPPORTED, to, ": the model has ", model.size(), " bytes, protobuf allows ", most);
  std::string_view parts[] = {model};
  writeFile(to, parts);
}

} // namespace dlc::cli
