// Tensors as the tool handles them: owned, printable, and readable element by
// element whatever their type.

#ifndef DLC_RUNTIME_TOOLS_IO_TENSOR_H
#define DLC_RUNTIME_TOOLS_IO_TENSOR_H

#include "dlc/dlc.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlc::cli {

struct TensorDeleter {
  void operator()(dlc_tensor *tensor) const { dlc_tensor_free(tensor); }
};
using Tensor = std::unique_ptr<dlc_tensor, TensorDeleter>;
using Dims = std::vector<int64_t>;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

/// A new tensor; `what` names the file or input in the error.
Tensor makeTensor(dlc_type type, const Dims &dims, const std::string &what);

std::span<const int64_t> dimsOf(const dlc_tensor &tensor);
int64_t elementCount(const dlc_tensor &tensor);
std::span<uint8_t> bytesOf(dlc_tensor &tensor);
std::span<const uint8_t> bytesOf(const dlc_tensor &tensor);

bool isFloat(dlc_type type);
bool isPacked(dlc_type type); // two elements to a byte

/// "f32[1,3,224,224]".
std::string typeText(dlc_type type, std::span<const int64_t> dims);
std::string typeText(const dlc_tensor &tensor);
/// Row-major position of a flat index: "[0,2,17]".
std::string positionText(const dlc_tensor &tensor, int64_t index);

/// Element `index` as a number; 64-bit integers lose their low bits.
double elementValue(const dlc_tensor &tensor, int64_t index);
/// Element `index` as it is stored, sign-extended for signed integers.
uint64_t elementBits(const dlc_tensor &tensor, int64_t index);
/// Element `index` for people: exact for integers.
std::string elementText(const dlc_tensor &tensor, int64_t index);
/// Rounds to the type; integers saturate.
void setElement(dlc_tensor &tensor, int64_t index, double value);

/// Bool bytes become 0 or 1, whatever the file had.
void normalizeBools(dlc_tensor &tensor);

/// NumPy has no bf16, f8 or int4: their arrays travel as u16 and u8 bits, and
/// as i8/u8 values. Turns those into `type`; any other tensor is left alone.
Tensor fromNumpyCarrier(Tensor tensor, dlc_type type, const std::string &what);
/// The reverse, for writing; null if the type needs no carrier.
Tensor toNumpyCarrier(const dlc_tensor &tensor, const std::string &what);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_TENSOR_H
