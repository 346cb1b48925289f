#include "runtime/tools/dlc/Machine.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <unistd.h>

namespace dlc::cli {

namespace {

std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// What follows "key : " in the first such line.
std::string cpuInfo(const std::string &key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      if (size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "";
}

/// cgroup v2, else v1; 0 without a limit.
double quotaCores() {
  std::string limit;
  double quota = 0, period = 0;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> limit >> period) {
    if (limit == "max" || period <= 0)
      return 0;
    std::istringstream(limit) >> quota;
    return quota / period;
  }
  std::ifstream quotaFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream periodFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quotaFile >> quota && periodFile >> period && quota > 0 && period > 0)
    return quota / period;
  return 0;
}

int64_t cgroupMemory() {
  int64_t bytes = 0;
  for (const char *path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::ifstream file(path); file >> bytes)
      return bytes < int64_t(1) << 60 ? bytes : 0; // v1 says "no limit" by a huge number
  return 0;
}

/// Of the cache with the highest level: "32768K".
int64_t lastCache() {
  int64_t bytes = 0;
  int highest = 0;
  for (int index = 0;; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string level = firstLine(folder + "level"), size = firstLine(folder + "size");
    if (level.empty())
      return bytes;
    if (std::atoi(level.c_str()) <= highest || size.empty())
      continue;
    highest = std::atoi(level.c_str());
    bytes = std::atoll(size.c_str()) << (size.back() == 'K' ? 10 : size.back() == 'M' ? 20 : 0);
  }
}

} // namespace

bool Machine::has(const std::string &flag) const {
  return std::ranges::find(cpuFlags, flag) != cpuFlags.end();
}

Machine readMachine() {
  Machine machine;
  machine.cpuName = cpuInfo("model name");
  std::istringstream flags(cpuInfo("flags"));
  for (std::string flag; flags >> flag;)
    machine.cpuFlags.push_back(flag);
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    machine.affinityCores = CPU_COUNT(&mask);
  machine.quotaCores = quotaCores();
  machine.memoryBytes = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  machine.cgroupMemoryBytes = cgroupMemory();
  machine.lastCacheBytes = lastCache();
  return machine;
}

std::string x86Level(const Machine &machine) {
  auto all = [&](std::initializer_list<const char *> flags) {
    return std::ranges::all_of(flags, [&](const char *flag) { return machine.has(flag); });
  };
  if (!all({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}))
    return "";
  if (!all({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}))
    return "x86-64-v2";
  if (!all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return "x86-64-v3";
  return "x86-64-v4";
}

} // namespace dlc::cli
