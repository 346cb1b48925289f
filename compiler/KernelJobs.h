// From kernel sources to what the CPU target compiles.

#ifndef DLC_COMPILER_KERNELJOBS_H
#define DLC_COMPILER_KERNELJOBS_H

#include "compiler/KernelSources.h"
#include "compiler/targets/cpu/CpuTarget.h"

namespace dlc {

inline std::vector<cpu::KernelJob> toJobs(const KernelSources &sources) {
  std::vector<cpu::KernelJob> jobs;
  for (const KernelSources::Source &source : sources.sources())
    jobs.push_back({source.name, source.ir, source.emit});
  return jobs;
}

} // namespace dlc

#endif // DLC_COMPILER_KERNELJOBS_H
