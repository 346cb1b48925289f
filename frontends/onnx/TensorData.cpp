#include "frontends/onnx/TensorData.h"

#include "dialects/dl/ConstantData.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace dlc::onnx {

Type elementType(int32_t dataType, MLIRContext *context) {
  auto isSigned = [&](unsigned width) -> Type { return IntegerType::get(context, width); };
  auto isUnsigned = [&](unsigned width) -> Type {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dataType) {
  case kFloat: return Float32Type::get(context);
  case kDouble: return Float64Type::get(context);
  case kFloat16: return Float16Type::get(context);
  case kBfloat16: return BFloat16Type::get(context);
  case kInt8: return isSigned(8);
  case kInt16: return isSigned(16);
  case kInt32: return isSigned(32);
  case kInt64: return isSigned(64);
  case kUint8: return isUnsigned(8);
  case kUint16: return isUnsigned(16);
  case kUint32: return isUnsigned(32);
  case kUint64: return isUnsigned(64);
  case kBool: return isSigned(1);
  default: return {};
  }
}

std::string dataTypeName(int32_t dataType) {
  static const char *const names[] = {
      "undefined", "float", "uint8", "int8", "uint16", "int16", "int32", "int64",
      "string", "bool", "float16", "double", "uint32", "uint64", "complex64",
      "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4", "int4", "float4e2m1"};
  if (dataType >= 0 && dataType < int(std::size(names)))
    return names[dataType];
  return "type " + std::to_string(dataType);
}

MappedFile::~MappedFile() {
  if (bytes.data())
    munmap(const_cast<char *>(bytes.data()), bytes.size());
}

std::string MappedFile::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return strerror(errno);
  struct stat info;
  std::string error;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    error = "not a regular file";
  } else if (info.st_size > 0) {
    void *memory = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
      error = strerror(errno);
    else
      bytes = std::string_view(static_cast<char *>(memory), info.st_size);
  }
  close(fd);
  return error;
}

namespace {

std::string canonical(const std::string &path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? buffer : "";
}

bool parseSize(std::string_view text, uint64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Elements in the fields that are not raw_data, as little-endian bytes.
template <typename To, typename From>
void narrow(const std::vector<From> &values, std::vector<char> &out) {
  for (From value : values) {
    To element = To(value);
    const char *bytes = reinterpret_cast<const char *>(&element);
    out.insert(out.end(), bytes, bytes + sizeof(To));
  }
}

bool typedBytes(const Tensor &t, std::vector<char> &out, std::string &error) {
  size_t fields = !t.floats.empty() + !t.ints32.empty() + !t.ints64.empty() +
                  !t.doubles.empty() + !t.uints64.empty();
  size_t used = fields;
  switch (t.dataType) {
  case kFloat: narrow<float>(t.floats, out); used = !t.floats.empty(); break;
  case kDouble: narrow<double>(t.doubles, out); used = !t.doubles.empty(); break;
  case kInt64: narrow<int64_t>(t.ints64, out); used = !t.ints64.empty(); break;
  case kUint64: narrow<uint64_t>(t.uints64, out); used = !t.uints64.empty(); break;
  case kUint32: narrow<uint32_t>(t.uints64, out); used = !t.uints64.empty(); break;
  case kInt32: narrow<int32_t>(t.ints32, out); used = !t.ints32.empty(); break;
  case kInt16: case kUint16: case kFloat16: case kBfloat16:
    narrow<uint16_t>(t.ints32, out);
    used = !t.ints32.empty();
    break;
  default: narrow<uint8_t>(t.ints32, out); used = !t.ints32.empty(); break;
  }
  if (fields == used)
    return true;
  error = "its values are in a field of another type than " + dataTypeName(t.dataType);
  return false;
}

} // namespace

TensorData::TensorData(const std::string &modelPath) {
  size_t slash = modelPath.rfind('/');
  folder = canonical(slash == std::string::npos ? "." : modelPath.substr(0, slash + 1));
}

bool TensorData::externalBytes(const Tensor &t, std::string_view &bytes,
                               std::string &error) {
  std::string location;
  uint64_t offset = 0, length = 0;
  bool hasLength = false;
  for (auto [key, value] : t.external) {
    if (key == "location") {
      location = value;
    } else if (key == "offset" || key == "length") {
      if (!parseSize(value, key == "offset" ? offset : length)) {
        error = "external data: " + std::string(key) + " '" +
                std::string(value.substr(0, 40)) + "' is not a size";
        return false;
      }
      hasLength |= key == "length";
    }
  }
  if (location.empty() || location.front() == '/') {
    error = "external data: location '" + location + "' is not a path inside the model's folder";
    return false;
  }
  std::string path = canonical(folder + "/" + location);
  if (path.empty()) {
    error = "external data: '" + location + "' does not exist";
    return false;
  }
  if (path.rfind(folder + "/", 0) != 0) {
    error = "external data: '" + location + "' leads out of the model's folder";
    return false;
  }
  auto &file = files[path];
  if (!file) {
    file = std::make_shared<MappedFile>();
    if (std::string problem = file->open(path); !problem.empty()) {
      error = "external data: '" + location + "': " + problem;
      return false;
    }
  }
  uint64_t size = file->bytes.size();
  if (offset > size || (hasLength && length > size - offset)) {
    error = "external data: offset " + std::to_string(offset) + " and length " +
            std::to_string(length) + " reach past the end of '" + location + "' (" +
            std::to_string(size) + " bytes)";
    return false;
  }
  bytes = file->bytes.substr(offset, hasLength ? length : std::string_view::npos);
  return true;
}

ElementsAttr TensorData::convert(const Tensor &t, MLIRContext *context,
                                 std::string &error) {
  Type element = elementType(t.dataType, context);
  if (!element) {
    error = "unsupported: the element type " + dataTypeName(t.dataType);
    return {};
  }
  for (int64_t dim : t.dims)
    if (dim < 0) {
      error = "has the negative dimension " + std::to_string(dim);
      return {};
    }
  auto type = RankedTensorType::get(t.dims, element);
  auto need = dl::tensorBytes(type);
  if (!need) {
    error = "its dimensions overflow";
    return {};
  }
  std::string_view bytes = t.raw;
  std::vector<char> typed;
  bool hasTyped = !t.floats.empty() || !t.ints32.empty() || !t.ints64.empty() ||
                  !t.doubles.empty() || !t.uints64.empty();
  if (t.hasRaw && hasTyped) {
    error = "has both raw_data and typed data";
    return {};
  }
  if (t.isExternal) {
    if (!externalBytes(t, bytes, error))
      return {};
  } else if (!t.hasRaw) {
    if (!typedBytes(t, typed, error))
      return {};
    bytes = std::string_view(typed.data(), typed.size());
  }
  if (int64_t(bytes.size()) != *need) {
    error = "needs " + std::to_string(*need) + " bytes, has " + std::to_string(bytes.size());
    return {};
  }
  ArrayRef<char> data(bytes.data(), bytes.size());
  constexpr int64_t copyBelow = 4096;
  if (*need < copyBelow || !typed.empty())
    return dl::makeConstantAttr(type, data);
  // Large data stays where it is mapped; the importer keeps it alive.
  bool isAligned = reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0;
  if (!isAligned || element.isInteger(1))
    return dl::makeConstantAttr(type, data);
  return DenseResourceElementsAttr::get(
      type, "onnx", UnmanagedAsmResourceBlob::allocateWithAlign(data, 8));
}

} // namespace dlc::onnx
