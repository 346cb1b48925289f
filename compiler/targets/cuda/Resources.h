// Registers, stack, spills and shared memory of functions, from the assembler's log.

#ifndef DLC_COMPILER_TARGETS_CUDA_RESOURCES_H
#define DLC_COMPILER_TARGETS_CUDA_RESOURCES_H

#include "compiler/DeviceProgram.h"

namespace dlc::cuda {

/// `log` is what `ptxas -v` prints. One entry per launch, then one per
/// narrow function; none where the log does not
/// name all of their functions.
std::vector<schema::LaunchResources> readResources(const std::string &log,
                                                   const std::vector<DeviceLaunch> &launches);

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_RESOURCES_H
