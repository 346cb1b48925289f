// One block of threads: its warps, its shared memory, its barriers. A core runs one
// block after the other in the same object.

#ifndef DLC_RUNTIME_CUDASIM_MACHINE_BLOCK_H
#define DLC_RUNTIME_CUDASIM_MACHINE_BLOCK_H

#include "runtime/cudasim/machine/DeviceMemory.h"
#include "runtime/cudasim/machine/SharedMemory.h"
#include "runtime/cudasim/machine/Warp.h"

#include <atomic>

namespace dlc::sim {

// CUresult
inline constexpr int kOutOfMemory = 2, kIllegalAddress = 700, kLaunchTimeout = 702,
                     kAssert = 710, kMisalignedAddress = 716, kIllegalInstruction = 715,
                     kLaunchFailed = 719;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Told of what device memory a kernel touches; used when several streams are in use.
struct AccessObserver {
  virtual ~AccessObserver() = default;
  /// Empty, or with what the access is not ordered.
  virtual std::string access(uint64_t address, unsigned bytes, bool isWrite) = 0;
};

struct Options {
  bool checksUninitialized = true, checksRaces = true, failsOnFindings = true;
  uint64_t seed = 0; // 0: in order
  uint64_t mostInstructions = uint64_t(20) << 30; // warp-instructions of a block
  unsigned cores = 0;
};

/// A kernel on its way, shared by the cores.
struct Launch {
  const Program *program = nullptr;
  const Code *entry = nullptr;
  Dim3 grid, block;
  uint32_t dynamicShared = 0;
  std::vector<char> params;
  DeviceMemory *memory = nullptr;
  AccessObserver *observer = nullptr;
  Options options;
  uint64_t id = 0;

  std::mutex mutex; // of what follows
  std::vector<std::string> findings;
  std::string printed;
  Fault fault;
  std::atomic<bool> isStopped{false};
  std::atomic<uint64_t> executed{0};
};

/// Runs all blocks; what went wrong is in the launch.
void runGrid(Launch &launch);

class Block {
public:
  explicit Block(Launch &launch);
  void run(uint64_t index);

  const Program &program() const { return *launch.program; }
  DeviceMemory &memory() { return *launch.memory; }
  void fillSpecials(const Warp &warp, uint32_t *specials) const;
  std::string where(const Place &place) const;
  std::string describe(const Warp &warp, const Place &place, int lane, const std::string &text) const;
  void finding(const std::string &text);
  SharedAccess sharedAccess(const Warp &warp, unsigned lane) const {
    return {epoch, uint16_t(warp.index * kLanes + lane), warp.syncEpoch};
  }
  std::string threadName(unsigned thread) const;
  uint32_t numThreads() const { return uint32_t(launch.block.count()); }

  Launch &launch;
  SharedMemory shared;

private:
  struct Barrier {
    uint32_t threads = 0, expected = 0;
    std::vector<Warp *> waiting;
  };
  void arrive(Warp &warp);
  void open(Barrier &barrier);
  void deadlock();

  uint32_t ctaid[3] = {0, 0, 0};
  std::vector<std::unique_ptr<Warp>> warps;
  uint32_t epoch = 1;
  Barrier barriers[16];
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_MACHINE_BLOCK_H
