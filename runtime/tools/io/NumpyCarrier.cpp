// Element types that NumPy lacks travel in .npy and .npz files as other types.

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/SmallFloat.h"
#include "runtime/tools/io/Tensor.h"

#include <cstring>

namespace dlc::cli {

namespace {

/// What an element type travels as; itself where NumPy has it.
dlc_type carrierOf(dlc_type type) {
  switch (type) {
  case DLC_BF16: return DLC_U16;
  case DLC_F8E4M3FN: case DLC_F8E4M3FNUZ: case DLC_F8E5M2: case DLC_F8E5M2FNUZ:
    return DLC_U8;
  case DLC_I4: return DLC_I8;
  case DLC_U4: return DLC_U8;
  default: return type;
  }
}

void checkFits(const dlc_tensor &tensor, dlc_type type, const std::string &what) {
  double low = type == DLC_I4 ? -8 : 0, high = type == DLC_I4 ? 7 : 15;
  for (int64_t i = 0, e = elementCount(tensor); i < e; ++i)
    if (double value = elementValue(tensor, i); value < low || value > high)
      fail(DLC_USAGE, what, ": element ", positionText(tensor, i), " is ",
           elementText(tensor, i), ", which does not fit ", dlc_type_name(type));
}

Tensor convert(const dlc_tensor &tensor, dlc_type type, const std::string &what) {
  std::span<const int64_t> dims = dimsOf(tensor);
  Tensor result = makeTensor(type, Dims(dims.begin(), dims.end()), what);
  if (!isPacked(type) && !isPacked(dlc_tensor_type(&tensor))) {
    // Same bits under another name.
    std::memcpy(bytesOf(*result).data(), bytesOf(tensor).data(), bytesOf(tensor).size());
    return result;
  }
  std::memset(bytesOf(*result).data(), 0, bytesOf(*result).size());
  for (int64_t i = 0, e = elementCount(tensor); i < e; ++i)
    setElement(*result, i, elementValue(tensor, i));
  return result;
}

} // namespace

Tensor fromNumpyCarrier(Tensor tensor, dlc_type type, const std::string &what) {
  dlc_type carrier = carrierOf(type);
  if (carrier == type || dlc_tensor_type(tensor.get()) != carrier)
    return tensor;
  if (isPacked(type))
    checkFits(*tensor, type, what);
  return convert(*tensor, type, what);
}

Tensor toNumpyCarrier(const dlc_tensor &tensor, const std::string &what) {
  dlc_type carrier = carrierOf(dlc_tensor_type(&tensor));
  return carrier == dlc_tensor_type(&tensor) ? nullptr : convert(tensor, carrier, what);
}

} // namespace dlc::cli
