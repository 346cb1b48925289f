// What is known of GPUs without having one: from their vendor's data sheets.

#ifndef DLC_RUNTIME_TOOLS_DLC_GPU_GPUTABLE_H
#define DLC_RUNTIME_TOOLS_DLC_GPU_GPUTABLE_H

#include <cstdint>
#include <string>

namespace dlc::cli {

struct GpuModel {
  const char *name;
  int architecture;       // 90 for sm_90
  int multiprocessors;
  double bandwidthGBs;    // of device memory
  double f32Tflops;       // a fused multiply-add counts twice
  double tensorTflops;    // f16 products summed in f32, dense
};

/// "A100, A10, ...".
std::string gpuNames();
/// The model of that name; an error that lists all names where there is none.
const GpuModel &gpuModelNamed(const std::string &name);

/// What a block of a function takes.
struct BlockNeeds {
  unsigned threads = 0, registers = 0; // registers of one thread
  uint64_t sharedBytes = 0;
};

/// Warps resident on a multiprocessor over the most that it holds, 0 to 1: the limits of
/// NVIDIA's occupancy calculator for the architecture.
double occupancy(int architecture, const BlockNeeds &needs);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_GPU_GPUTABLE_H
