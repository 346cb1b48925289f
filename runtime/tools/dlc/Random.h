// Random inputs that are the same on every machine.

#ifndef DLC_RUNTIME_TOOLS_DLC_RANDOM_H
#define DLC_RUNTIME_TOOLS_DLC_RANDOM_H

#include "runtime/tools/dlc/Model.h"

#include <map>

namespace dlc::cli {

/// Floats in [-1, 1), integers in [0, 8), bools either way. Symbolic sizes come
/// from `dims`, else are 1.
Tensor randomTensor(const Port &port, const std::map<std::string, int64_t> &dims,
                    uint64_t seed);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_RANDOM_H
