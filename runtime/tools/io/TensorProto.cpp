// ONNX TensorProto, as in the input_N.pb and output_N.pb of test data.

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Protobuf.h"

#include <cstring>

namespace dlc::cli {

namespace {

// Field numbers of onnx.TensorProto.
enum Field : uint64_t {
  Dimensions = 1, DataType = 2, Segment = 3, FloatData = 4, Int32Data = 5,
  StringData = 6, Int64Data = 7, Name = 8, RawData = 9, DoubleData = 10,
  Uint64Data = 11, ExternalData = 13, DataLocation = 14
};

struct OnnxType {
  const char *name;
  int type;       // dlc_type, or -1: not supported
  Field typed;    // where the elements are if not in raw_data
};
constexpr int kNone = -1;
// Indexed by onnx.TensorProto.DataType.
constexpr OnnxType kTypes[] = {
    {"undefined", kNone, Int32Data},      {"float", DLC_F32, FloatData},
    {"uint8", DLC_U8, Int32Data},         {"int8", DLC_I8, Int32Data},
    {"uint16", DLC_U16, Int32Data},       {"int16", DLC_I16, Int32Data},
    {"int32", DLC_I32, Int32Data},        {"int64", DLC_I64, Int64Data},
    {"string", kNone, StringData},        {"bool", DLC_BOOL, Int32Data},
    {"float16", DLC_F16, Int32Data},      {"double", DLC_F64, DoubleData},
    {"uint32", DLC_U32, Uint64Data},      {"uint64", DLC_U64, Uint64Data},
    {"complex64", kNone, FloatData},      {"complex128", kNone, DoubleData},
    {"bfloat16", DLC_BF16, Int32Data},    {"float8e4m3fn", DLC_F8E4M3FN, Int32Data},
    {"float8e4m3fnuz", DLC_F8E4M3FNUZ, Int32Data},
    {"float8e5m2", DLC_F8E5M2, Int32Data},
    {"float8e5m2fnuz", DLC_F8E5M2FNUZ, Int32Data},
    {"uint4", DLC_U4, Int32Data},         {"int4", DLC_I4, Int32Data},
    {"float4e2m1", kNone, Int32Data},     {"float8e8m0", kNone, Int32Data},
    {"uint2", kNone, Int32Data},          {"int2", kNone, Int32Data}};

struct Message {
  std::string name;
  Dims dims;
  uint64_t dataType = 0;
  std::vector<uint64_t> typed; // bits, from whichever typed field there is
  uint64_t typedField = 0;
  std::span<const uint8_t> raw;
  bool hasRaw = false;
};

WireType elementWire(uint64_t field) {
  if (field == FloatData)
    return WireType::Fixed32;
  return field == DoubleData ? WireType::Fixed64 : WireType::Varint;
}

/// A repeated number, packed or one by one.
template <typename Append>
void readNumbers(const WireField &field, const std::string &file, Append append) {
  WireType wire = elementWire(field.number);
  if (field.type == wire)
    return append(field.value);
  if (field.type != WireType::Bytes)
    fail(DLC_USAGE, file, ": not a TensorProto: field ", field.number, " has a wrong type");
  WireReader reader(field.bytes, file);
  while (!reader.done())
    append(wire == WireType::Varint ? reader.varint()
                                    : reader.fixed(wire == WireType::Fixed32 ? 4 : 8));
}

void readTyped(Message &message, const WireField &field, const std::string &file) {
  if (message.typedField != 0 && message.typedField != field.number)
    fail(DLC_USAGE, file, ": elements are in two fields, ", message.typedField, " and ",
         field.number);
  message.typedField = field.number;
  readNumbers(field, file, [&](uint64_t bits) { message.typed.push_back(bits); });
}

void readDims(Message &message, const WireField &field, const std::string &file) {
  readNumbers(field, file, [&](uint64_t bits) {
    auto dim = static_cast<int64_t>(bits);
    if (dim < 0)
      fail(DLC_USAGE, file, ": dimension ", message.dims.size(), " is ", dim);
    if (message.dims.size() == DLC_MAX_RANK)
      fail(DLC_UNSUPPORTED, file, ": the rank is above ", DLC_MAX_RANK);
    message.dims.push_back(dim);
  });
}

/// Fields whose wire type decides whether this is a TensorProto at all.
void expectWire(const WireField &field, WireType wire, const std::string &file) {
  if (field.type != wire)
    fail(DLC_USAGE, file, ": not a TensorProto: field ", field.number, " has a wrong type");
}

void readField(Message &message, const WireField &field, const std::string &file) {
  switch (field.number) {
  case Dimensions: return readDims(message, field, file);
  case DataType:
    expectWire(field, WireType::Varint, file);
    message.dataType = field.value;
    return;
  case Segment:
    fail(DLC_UNSUPPORTED, file, ": a sequence, an optional or a segmented tensor; "
                                "only whole tensors are supported");
  case FloatData: case Int32Data: case Int64Data: case DoubleData: case Uint64Data:
    return readTyped(message, field, file);
  case StringData:
    fail(DLC_UNSUPPORTED, file, ": string tensors are not supported");
  case Name:
    expectWire(field, WireType::Bytes, file);
    message.name.assign(field.bytes.begin(), field.bytes.end());
    return;
  case RawData:
    expectWire(field, WireType::Bytes, file);
    message.raw = field.bytes;
    message.hasRaw = true;
    return;
  case ExternalData:
    fail(DLC_UNSUPPORTED, file, ": external data are not supported in a tensor file");
  case DataLocation:
    if (field.value != 0)
      fail(DLC_UNSUPPORTED, file, ": external data are not supported in a tensor file");
    return;
  default: return; // doc_string, metadata
  }
}

const OnnxType &supportedType(const Message &message, const std::string &file) {
  if (message.dataType == 0)
    fail(DLC_USAGE, file, ": not a TensorProto: it has no data type");
  if (message.dataType >= std::size(kTypes))
    fail(DLC_UNSUPPORTED, file, ": unknown data type ", message.dataType);
  const OnnxType &type = kTypes[message.dataType];
  if (type.type == kNone)
    fail(DLC_UNSUPPORTED, file, ": tensors of ", type.name, " are not supported");
  return type;
}

/// One value per element, but 4-bit types have one per byte, two elements each.
void fillTyped(dlc_tensor &tensor, const Message &message, const std::string &file) {
  std::span<uint8_t> bytes = bytesOf(tensor);
  size_t count = isPacked(dlc_tensor_type(&tensor))
                     ? bytes.size()
                     : static_cast<size_t>(elementCount(tensor));
  if (message.typed.size() != count)
    fail(DLC_USAGE, file, ": ", typeText(tensor), " needs ", count, " values, ",
         message.typed.size(), " are there");
  size_t width = count ? bytes.size() / count : 0;
  for (size_t i = 0; i < count; ++i)
    std::memcpy(bytes.data() + i * width, &message.typed[i], width); // little endian
}

void fillRaw(dlc_tensor &tensor, const Message &message, const std::string &file) {
  std::span<uint8_t> bytes = bytesOf(tensor);
  if (message.raw.size() != bytes.size())
    fail(DLC_USAGE, file, ": ", typeText(tensor), " needs ", bytes.size(),
         " bytes of raw data, ", message.raw.size(), " are there");
  if (!bytes.empty())
    std::memcpy(bytes.data(), message.raw.data(), bytes.size());
}

/// Before memory is taken: the elements that the message holds bound its size.
void checkSize(const Message &message, dlc_type type, const std::string &file) {
  int64_t size = dlc_type_size_bytes(type, message.dims.data(),
                                     static_cast<int>(message.dims.size()));
  if (size < 0)
    fail(DLC_USAGE, file, ": the size of ", typeText(type, message.dims), " overflows");
  uint64_t most = message.hasRaw ? message.raw.size() : message.typed.size() * 8;
  if (static_cast<uint64_t>(size) > most)
    fail(DLC_USAGE, file, ": ", typeText(type, message.dims), " needs ", size,
         " bytes, the file has ", most, " at most");
}

} // namespace

NamedTensor parseTensorProto(std::span<const uint8_t> bytes, const std::string &file) {
  Message message;
  for (WireReader reader(bytes, file); !reader.done();)
    readField(message, reader.next(), file);
  const OnnxType &onnxType = supportedType(message, file);
  auto type = static_cast<dlc_type>(onnxType.type);
  if (message.hasRaw && message.typedField != 0)
    fail(DLC_USAGE, file, ": elements are in raw_data and in field ", message.typedField);
  if (message.typedField != 0 && message.typedField != onnxType.typed)
    fail(DLC_USAGE, file, ": elements of ", onnxType.name, " are in field ",
         message.typedField, ", not ", onnxType.typed);
  checkSize(message, type, file);
  Tensor tensor = makeTensor(type, message.dims, file);
  message.hasRaw ? fillRaw(*tensor, message, file) : fillTyped(*tensor, message, file);
  normalizeBools(*tensor);
  return {std::move(message.name), std::move(tensor)};
}

NamedTensor readTensorProto(const std::string &path) {
  MappedFile file(path);
  return parseTensorProto(file.bytes(), path);
}

} // namespace dlc::cli
