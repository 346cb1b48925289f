#include "runtime/tools/io/Safetensors.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/File.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace dlc::cli {

namespace {

using Json = nlohmann::json; // sorted: a hostile header costs no quadratic time

constexpr uint64_t kMostHeaderBytes = 100'000'000;
constexpr const char *kMetadata = "__metadata__";

struct Type {
  const char *name;
  dlc_type type;
};
constexpr Type kTypes[] = {
    {"F32", DLC_F32}, {"F64", DLC_F64}, {"F16", DLC_F16}, {"BF16", DLC_BF16},
    {"F8_E4M3", DLC_F8E4M3FN}, {"F8_E5M2", DLC_F8E5M2}, {"I8", DLC_I8}, {"U8", DLC_U8},
    {"I16", DLC_I16}, {"U16", DLC_U16}, {"I32", DLC_I32}, {"U32", DLC_U32},
    {"I64", DLC_I64}, {"U64", DLC_U64}, {"BOOL", DLC_BOOL}};

const Type *findType(const std::string &name) {
  auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                            [&](const Type &type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

const char *typeName(dlc_type type, const std::string &path) {
  for (const Type &known : kTypes)
    if (known.type == type)
      return known.name;
  fail(DLC_UNSUPPORTED, path, ": safetensors has no type ", dlc_type_name(type));
}

/// A list of numbers that are not negative; refuses anything else.
std::vector<int64_t> numbers(const Json &list, const std::string &what) {
  std::vector<int64_t> result;
  if (!list.is_array())
    fail(DLC_USAGE, what, ": a list of numbers is missing");
  for (const Json &number : list) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > uint64_t(INT64_MAX))
      fail(DLC_USAGE, what, ": a size is no number");
    result.push_back(static_cast<int64_t>(number.get<uint64_t>()));
  }
  return result;
}

Tensor readTensor(const Json &entry, std::span<const uint8_t> data, const std::string &what) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry.contains("data_offsets"))
    fail(DLC_USAGE, what, ": its entry is incomplete");
  const Type *type = findType(entry["dtype"].get<std::string>());
  if (!type)
    fail(DLC_UNSUPPORTED, what, ": element type ", inQuotes(entry["dtype"].get<std::string>()));
  Dims dims = numbers(entry["shape"], what);
  std::vector<int64_t> offsets = numbers(entry["data_offsets"], what);
  if (dims.size() > DLC_MAX_RANK)
    fail(DLC_UNSUPPORTED, what, ": rank ", dims.size(), " is above ", DLC_MAX_RANK);
  int64_t bytes = dlc_type_size_bytes(type->type, dims.data(), static_cast<int>(dims.size()));
  if (offsets.size() != 2 || offsets[0] > offsets[1] || uint64_t(offsets[1]) > data.size() ||
      bytes != offsets[1] - offsets[0])
    fail(DLC_USAGE, what, ": its bytes do not fit its shape, or lie outside the file");
  Tensor tensor = makeTensor(type->type, dims, what);
  std::copy_n(data.data() + offsets[0], bytes, bytesOf(*tensor).data());
  return tensor;
}

} // namespace

Safetensors readSafetensors(const std::string &path) {
  MappedFile file(path);
  std::span<const uint8_t> bytes = file.bytes();
  uint64_t length = 0;
  if (bytes.size() >= sizeof length)
    std::memcpy(&length, bytes.data(), sizeof length);
  if (bytes.size() < sizeof length || length > bytes.size() - sizeof length ||
      length > kMostHeaderBytes)
    fail(DLC_USAGE, path, ": no safetensors file, or truncated");
  const char *text = reinterpret_cast<const char *>(bytes.data()) + sizeof length;
  Json header = Json::parse(text, text + length, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    fail(DLC_USAGE, path, ": its header is no JSON object");
  Safetensors result;
  for (const auto &[name, entry] : header.items()) {
    if (name != kMetadata) {
      std::string what = path + ": tensor " + inQuotes(name);
      result.tensors.push_back({name, readTensor(entry, bytes.subspan(sizeof length + length), what)});
      continue;
    }
    for (const auto &[key, value] : entry.items())
      if (value.is_string())
        result.metadata[key] = value.get<std::string>();
  }
  return result;
}

void writeSafetensors(const std::string &path, const Safetensors &contents) {
  Json header = Json::object();
  if (!contents.metadata.empty())
    header[kMetadata] = contents.metadata;
  size_t offset = 0;
  std::vector<std::string_view> parts(1);
  for (const NamedTensor &named : contents.tensors) {
    std::span<const uint8_t> bytes = bytesOf(std::as_const(*named.tensor));
    auto dims = dimsOf(*named.tensor);
    header[named.name] = {{"dtype", typeName(dlc_tensor_type(named.tensor.get()), path)},
                          {"shape", Dims(dims.begin(), dims.end())},
                          {"data_offsets", {offset, offset + bytes.size()}}};
    offset += bytes.size();
    parts.push_back({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' '); // so that the tensors are aligned
  uint64_t length = text.size();
  std::string head(reinterpret_cast<const char *>(&length), sizeof length);
  head += text;
  parts[0] = head;
  writeFile(path, parts);
}

} // namespace dlc::cli
