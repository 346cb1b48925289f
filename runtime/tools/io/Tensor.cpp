#include "runtime/tools/io/Tensor.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/SmallFloat.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace dlc::cli {

namespace {

template <typename T> T load(const dlc_tensor &tensor, int64_t index) {
  T value;
  std::memcpy(&value, bytesOf(tensor).data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> void store(dlc_tensor &tensor, int64_t index, T value) {
  std::memcpy(bytesOf(tensor).data() + index * sizeof(T), &value, sizeof(T));
}

uint8_t nibble(const dlc_tensor &tensor, int64_t index) {
  return bytesOf(tensor)[index / 2] >> (index % 2 * 4) & 0xf;
}

void setNibble(dlc_tensor &tensor, int64_t index, int value) {
  uint8_t &byte = bytesOf(tensor)[index / 2];
  int shift = index % 2 * 4;
  byte = static_cast<uint8_t>((byte & ~(0xf << shift)) | (value & 0xf) << shift);
}

template <typename T> void storeSaturated(dlc_tensor &tensor, int64_t index, double value) {
  double low = static_cast<double>(std::numeric_limits<T>::min());
  double high = static_cast<double>(std::numeric_limits<T>::max());
  T result = std::isnan(value) ? T(0)
             : value <= low    ? std::numeric_limits<T>::min()
             : value >= high   ? std::numeric_limits<T>::max()
                               : static_cast<T>(value);
  store(tensor, index, result);
}

bool isSigned(dlc_type type) {
  return type == DLC_I4 || type == DLC_I8 || type == DLC_I16 || type == DLC_I32 ||
         type == DLC_I64;
}

} // namespace

Tensor makeTensor(dlc_type type, const Dims &dims, const std::string &what) {
  dlc_tensor *tensor = nullptr;
  check(dlc_tensor_create(type, dims.data(), static_cast<int>(dims.size()), &tensor),
        what);
  return Tensor(tensor);
}

std::span<const int64_t> dimsOf(const dlc_tensor &tensor) {
  return {dlc_tensor_dims(&tensor), static_cast<size_t>(dlc_tensor_rank(&tensor))};
}

int64_t elementCount(const dlc_tensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : dimsOf(tensor))
    count *= dim; // cannot overflow: the runtime made or checked the tensor
  return count;
}

std::span<uint8_t> bytesOf(dlc_tensor &tensor) {
  return {static_cast<uint8_t *>(dlc_tensor_data(&tensor)),
          static_cast<size_t>(dlc_tensor_size_bytes(&tensor))};
}

std::span<const uint8_t> bytesOf(const dlc_tensor &tensor) {
  return {static_cast<const uint8_t *>(dlc_tensor_data(&tensor)),
          static_cast<size_t>(dlc_tensor_size_bytes(&tensor))};
}

bool isFloat(dlc_type type) {
  return type == DLC_F32 || type == DLC_F64 || smallFloat(type);
}

bool isPacked(dlc_type type) { return type == DLC_I4 || type == DLC_U4; }

std::string typeText(dlc_type type, std::span<const int64_t> dims) {
  std::string text = std::string(dlc_type_name(type)) + "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string typeText(const dlc_tensor &tensor) {
  return typeText(dlc_tensor_type(&tensor), dimsOf(tensor));
}

std::string positionText(const dlc_tensor &tensor, int64_t index) {
  std::span<const int64_t> dims = dimsOf(tensor);
  std::string text;
  for (size_t axis = dims.size(); axis-- > 0; index /= dims[axis])
    text = std::to_string(index % dims[axis]) + (text.empty() ? "" : ",") + text;
  return "[" + text + "]";
}

double elementValue(const dlc_tensor &tensor, int64_t index) {
  dlc_type type = dlc_tensor_type(&tensor);
  if (type == DLC_F32)
    return load<float>(tensor, index);
  if (type == DLC_F64)
    return load<double>(tensor, index);
  uint64_t bits = elementBits(tensor, index);
  if (const SmallFloat *format = smallFloat(type))
    return decodeSmallFloat(static_cast<uint32_t>(bits), *format);
  return isSigned(type) ? static_cast<double>(static_cast<int64_t>(bits))
                        : static_cast<double>(bits);
}

uint64_t elementBits(const dlc_tensor &tensor, int64_t index) {
  switch (dlc_tensor_type(&tensor)) {
  case DLC_F32: case DLC_U32: return load<uint32_t>(tensor, index);
  case DLC_F64: case DLC_U64: case DLC_I64: return load<uint64_t>(tensor, index);
  case DLC_F16: case DLC_BF16: case DLC_U16: return load<uint16_t>(tensor, index);
  case DLC_I4: return static_cast<uint64_t>((nibble(tensor, index) ^ 8) - 8);
  case DLC_U4: return nibble(tensor, index);
  case DLC_I8: return static_cast<uint64_t>(load<int8_t>(tensor, index));
  case DLC_I16: return static_cast<uint64_t>(load<int16_t>(tensor, index));
  case DLC_I32: return static_cast<uint64_t>(load<int32_t>(tensor, index));
  default: return load<uint8_t>(tensor, index); // u8, bool, f8
  }
}

std::string elementText(const dlc_tensor &tensor, int64_t index) {
  dlc_type type = dlc_tensor_type(&tensor);
  if (type == DLC_BOOL)
    return elementBits(tensor, index) ? "true" : "false";
  if (!isFloat(type))
    return isSigned(type)
               ? std::to_string(static_cast<int64_t>(elementBits(tensor, index)))
               : std::to_string(elementBits(tensor, index));
  char text[32];
  std::snprintf(text, sizeof text, type == DLC_F64 ? "%.9g" : "%.6g",
                elementValue(tensor, index));
  return text;
}

void setElement(dlc_tensor &tensor, int64_t index, double value) {
  switch (dlc_tensor_type(&tensor)) {
  case DLC_F32: return store(tensor, index, static_cast<float>(value));
  case DLC_F64: return store(tensor, index, value);
  case DLC_F16: case DLC_BF16:
    return store(tensor, index,
                 static_cast<uint16_t>(encodeSmallFloat(
                     value, *smallFloat(dlc_tensor_type(&tensor)))));
  case DLC_F8E4M3FN: case DLC_F8E4M3FNUZ: case DLC_F8E5M2: case DLC_F8E5M2FNUZ:
    return store(tensor, index,
                 static_cast<uint8_t>(encodeSmallFloat(
                     value, *smallFloat(dlc_tensor_type(&tensor)))));
  case DLC_I4: return setNibble(tensor, index, static_cast<int>(std::fmin(std::fmax(value, -8), 7)));
  case DLC_U4: return setNibble(tensor, index, static_cast<int>(std::fmin(std::fmax(value, 0), 15)));
  case DLC_I8: return storeSaturated<int8_t>(tensor, index, value);
  case DLC_U8: return storeSaturated<uint8_t>(tensor, index, value);
  case DLC_I16: return storeSaturated<int16_t>(tensor, index, value);
  case DLC_U16: return storeSaturated<uint16_t>(tensor, index, value);
  case DLC_I32: return storeSaturated<int32_t>(tensor, index, value);
  case DLC_U32: return storeSaturated<uint32_t>(tensor, index, value);
  case DLC_I64: return storeSaturated<int64_t>(tensor, index, value);
  case DLC_U64: return storeSaturated<uint64_t>(tensor, index, value);
  case DLC_BOOL: return store(tensor, index, static_cast<uint8_t>(value != 0));
  }
}

void normalizeBools(dlc_tensor &tensor) {
  if (dlc_tensor_type(&tensor) == DLC_BOOL)
    for (uint8_t &byte : bytesOf(tensor))
      byte = byte != 0;
}

} // namespace dlc::cli
