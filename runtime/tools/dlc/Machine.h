// What this machine is and has, read from the kernel.

#ifndef DLC_RUNTIME_TOOLS_DLC_MACHINE_H
#define DLC_RUNTIME_TOOLS_DLC_MACHINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

struct Machine {
  std::string cpuName;
  std::vector<std::string> cpuFlags; // as in /proc/cpuinfo
  int affinityCores = 1;             // in this process's affinity mask
  double quotaCores = 0;             // the cgroup's; 0: no limit
  int64_t memoryBytes = 0;
  int64_t cgroupMemoryBytes = 0;     // 0: no limit
  int64_t lastCacheBytes = 0;        // 0: unknown

  bool has(const std::string &flag) const;
};
Machine readMachine();

/// "x86-64-v3": the widest common level that this CPU has; empty below v2.
std::string x86Level(const Machine &machine);

struct GpuLibraries {
  std::string driver, compiler; // what was opened; empty: not there
  std::string driverError;      // opened, but it does not start
  int driverVersion = 0;        // 12040 is CUDA 12.4
  struct Device {
    std::string name;
    int major = 0, minor = 0;
    int multiprocessors = 0;
    uint64_t memoryBytes = 0;

    std::string architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
  };
  std::vector<Device> devices;
  std::vector<Device> simulated; // what cuda-sim is; empty where it is not installed
  std::string simulatorError;    // installed, but it does not start
};
/// Opens libcuda and NVRTC at run time; neither is needed for anything else.
GpuLibraries readGpuLibraries();

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_MACHINE_H
