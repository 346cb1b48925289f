// What CUDA kernels of an artifact take of a GPU, told without having one.

#ifndef DLC_RUNTIME_TOOLS_DLC_GPU_KERNELINSIGHT_H
#define DLC_RUNTIME_TOOLS_DLC_GPU_KERNELINSIGHT_H

#include "runtime/tools/dlc/Artifact.h"
#include "runtime/tools/dlc/gpu/GpuTable.h"
#include "runtime/tools/dlc/gpu/PtxMix.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::cli {

/// One launch of one kernel call.
struct LaunchInsight {
  std::string function;
  std::optional<schema::LaunchResources> resources; // none: no machine code for the GPU
  std::string architecture;                         // that the resources are of
  double occupancy = 0;                             // 0 to 1; 0 without resources
  PtxMix mix;
};

struct KernelInsight {
  std::string nodes;
  std::vector<LaunchInsight> launches;
  /// Operands and temporaries, each counted once by every launch that is handed it;
  /// negative where a size is not known.
  double bytes = 0;
  double flops = 0;
  /// The larger of what memory and arithmetic take at the GPU's peaks.
  double rooflineUs = 0;
};

/// One per kernel call; empty where the artifact has no CUDA code.
std::vector<KernelInsight> kernelInsights(const Artifact &artifact, const SymbolValues &symbols,
                                          const GpuModel &gpu);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_GPU_KERNELINSIGHT_H
