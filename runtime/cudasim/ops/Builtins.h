// Functions that the CUDA runtime gives to kernels: printf and assert.

#ifndef DLC_RUNTIME_CUDASIM_OPS_BUILTINS_H
#define DLC_RUNTIME_CUDASIM_OPS_BUILTINS_H

#include "runtime/cudasim/ops/Lanes.h"

namespace dlc::sim {

/// -1 when there is no such function.
int builtinNamed(const std::string &name);
void runBuiltin(Warp &warp, const Inst &inst, const Call &call, uint32_t active);

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_OPS_BUILTINS_H
