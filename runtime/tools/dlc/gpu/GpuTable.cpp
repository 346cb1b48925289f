#include "runtime/tools/dlc/gpu/GpuTable.h"

#include "runtime/tools/io/Error.h"

#include <algorithm>

namespace dlc::cli {

namespace {

constexpr GpuModel kModels[] = {
    {"A100", 80, 108, 2039, 19.5, 312}, // SXM, 80 GB
    {"A10", 86, 72, 600, 31.2, 125},
    {"L4", 89, 58, 300, 30.3, 121},
    {"L40S", 89, 142, 864, 91.6, 362},
    {"RTX4090", 89, 128, 1008, 82.6, 165},
    {"H100", 90, 132, 3350, 67, 989}, // SXM
    {"H200", 90, 132, 4800, 67, 989},
};

/// Of one multiprocessor.
struct Limits {
  unsigned warps, blocks;
  uint64_t sharedBytes;
};

Limits limitsOf(int architecture) {
  switch (architecture) {
  case 86: return {48, 16, 100 << 10};
  case 89: return {48, 24, 100 << 10};
  case 80: return {64, 32, 164 << 10};
  default: return {64, 32, 228 << 10};
  }
}

} // namespace

std::string gpuNames() {
  std::string names;
  for (const GpuModel &model : kModels)
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  return names;
}

const GpuModel &gpuModelNamed(const std::string &name) {
  auto found = std::ranges::find_if(kModels, [&](const GpuModel &m) { return name == m.name; });
  if (found != std::end(kModels))
    return *found;
  fail(DLC_USAGE, "--gpu ", name, ": known are ", gpuNames());
}

double occupancy(int architecture, const BlockNeeds &needs) {
  constexpr unsigned lanes = 32, registersPerMultiprocessor = 1 << 16, registerUnit = 256;
  constexpr uint64_t sharedUnit = 128, reservedShared = 1 << 10;
  auto roundUp = [](uint64_t value, uint64_t to) { return (value + to - 1) / to * to; };
  Limits limits = limitsOf(architecture);
  uint64_t warps = std::max(1u, (needs.threads + lanes - 1) / lanes);
  uint64_t warpRegisters = roundUp(uint64_t(std::max(1u, needs.registers)) * lanes, registerUnit);
  uint64_t byRegisters = registersPerMultiprocessor / warpRegisters / warps;
  uint64_t byShared = limits.sharedBytes / (roundUp(needs.sharedBytes, sharedUnit) + reservedShared);
  uint64_t blocks = std::min({uint64_t(limits.blocks), limits.warps / warps, byRegisters, byShared});
  return double(blocks * warps) / limits.warps;
}

} // namespace dlc::cli
