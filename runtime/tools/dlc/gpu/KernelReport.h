// Insights into CUDA kernels, as a table and as JSON.

#ifndef DLC_RUNTIME_TOOLS_DLC_GPU_KERNELREPORT_H
#define DLC_RUNTIME_TOOLS_DLC_GPU_KERNELREPORT_H

#include "runtime/tools/dlc/gpu/KernelInsight.h"

#include <nlohmann/json.hpp>

namespace dlc::cli {

/// Prints nothing where there are none.
void printGpuKernels(const std::vector<KernelInsight> &kernels, const GpuModel &gpu);

nlohmann::ordered_json gpuKernelsJson(const std::vector<KernelInsight> &kernels, const GpuModel &gpu);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_GPU_KERNELREPORT_H
