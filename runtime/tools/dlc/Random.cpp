#include "runtime/tools/dlc/Random.h"

#include "runtime/tools/io/Error.h"

#include <cmath>

namespace dlc::cli {

namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014).
uint64_t next(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

Dims concreteDims(const Port &port, const std::map<std::string, int64_t> &given) {
  Dims dims = port.dims;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] < 0) {
      auto found = given.find(port.dimNames[axis]);
      dims[axis] = found == given.end() ? 1 : found->second;
    }
  return dims;
}

} // namespace

Tensor randomTensor(const Port &port, const std::map<std::string, int64_t> &dims,
                    uint64_t seed) {
  Tensor tensor = makeTensor(port.type, concreteDims(port, dims), "input " + inQuotes(port.name));
  uint64_t state = seed;
  for (int64_t i = 0, e = elementCount(*tensor); i < e; ++i) {
    double unit = std::ldexp(static_cast<double>(next(state) >> 11), -53); // [0, 1)
    double value = isFloat(port.type)        ? unit * 2 - 1
                   : port.type == DLC_BOOL ? (unit < 0.5 ? 0 : 1)
                                           : std::floor(unit * 8);
    setElement(*tensor, i, value);
  }
  return tensor;
}

} // namespace dlc::cli
