// 32 lanes in lock-step. Lanes that went different ways form groups; the group with
// the lowest program counter runs, and groups that meet become one.

#ifndef DLC_RUNTIME_CUDASIM_MACHINE_WARP_H
#define DLC_RUNTIME_CUDASIM_MACHINE_WARP_H

#include "runtime/cudasim/machine/AsyncCopies.h"
#include "runtime/cudasim/program/Program.h"

#include <cstdlib>

namespace dlc::sim {

class Block;

/// A kernel that cannot go on.
struct Fault {
  int code = 0; // CUresult
  std::string text;
};

enum class WarpState : uint8_t { Ready, AtBarrier, Done };

/// What a warp waits for at a barrier.
struct BarrierWait {
  uint32_t id = 0, expected = 0; // 0: all threads of the block
  int reduction = -1;            // of bar.red: popc, and, or
  Ref result{};
  uint32_t predicate = 0; // lanes for which it holds
};

struct FreeMemory {
  void operator()(char *memory) const { free(memory); }
};

class Warp {
public:
  void start(Block &block, const Code &code, uint32_t index, uint32_t lanes);
  /// Until it is done, waits, or has executed `budget` instructions.
  void run(uint64_t budget);

  template <class T> T *out(Ref ref) { return reinterpret_cast<T *>(base[ref.base] + ref.offset); }
  template <class T> const T *in(Ref ref) const {
    return reinterpret_cast<const T *>(base[ref.base] + ref.offset);
  }
  uint32_t mask() const { return current; }
  uint32_t live() const { return present & ~exited; }
  uint32_t exitedLanes() const { return exited; }
  uint32_t presentLanes() const { return present; }
  const Code &function() const { return *frames.back().code; }
  Place placeOf(const Inst &inst) const;

  // For handlers that change the flow.
  void jump(uint32_t target) { pc = target; }
  void branch(uint32_t target, uint32_t taken);
  void branchTable(const std::vector<uint32_t> &targets, const uint32_t *index, uint32_t active);
  void leave(uint32_t lanes, bool isExit);
  void call(const Inst &inst, const Code &callee, const Call &call, uint32_t active);
  /// True when all lanes of `needed` are here; else these lanes wait for the others.
  bool gather(const Inst &inst, uint32_t active, uint32_t needed);
  void wait(const Inst &inst, const BarrierWait &wait);
  void release();

  /// Lane-private memory.
  char *local(unsigned lane, uint64_t offset, unsigned bytes);
  uint8_t *localInitialized(unsigned lane, uint64_t offset);
  uint64_t localBase() const { return frames.back().localBase; }
  uint64_t localLimit() const { return localBytesPerLane; }
  char *param(unsigned lane, uint64_t offset, unsigned bytes);

  [[noreturn]] void fault(const Inst &inst, int code, int lane, const std::string &text);
  /// A checker's finding: faults unless findings are only reported.
  void finding(const Inst &inst, int lane, const std::string &text);
  std::string describe(const Inst &inst, int lane, const std::string &text) const;

  Block *block = nullptr;
  uint32_t index = 0; // in the block
  WarpState state = WarpState::Done;
  BarrierWait waiting;
  Place waitingAt;
  AsyncCopies copies;
  uint16_t syncEpoch = 0; // counts bar.warp.sync and the like
  uint64_t executed = 0;  // lane-instructions
  uint32_t carries = 0;   // of add.cc and the like, a bit a lane

private:
  struct Group {
    uint32_t pc, mask;
    bool isBlocked;
  };
  struct Frame {
    const Code *code = nullptr;
    std::unique_ptr<char, FreeMemory> registers;
    uint32_t capacity = 0;
    std::vector<char> params;
    std::vector<Group> groups; // all but the current one
    uint32_t returnPc = 0, callMask = 0;
    const Call *call = nullptr; // that made the next frame
    uint64_t localBase = 0;
  };
  void enter(const Code &code, uint32_t lanes);
  void returnToCaller();
  void park(uint32_t atPc, uint32_t lanes, bool isBlocked);
  void reschedule();
  void allBlocked();
  void growLocal(uint64_t bytes);
  void useFrame();

  char *base[3] = {nullptr, nullptr, nullptr};
  const Inst *code = nullptr;
  uint32_t pc = 0, current = 0, next = 0; // `next`: lowest pc among the groups
  bool isBlocking = false;
  uint32_t present = 0, exited = 0;
  std::vector<Frame> frames;
  std::vector<Frame> spare;
  std::vector<char> localMemory;
  std::vector<uint8_t> localValid;
  uint64_t localBytesPerLane = 0;
  alignas(64) char specials[NumSpecials * kLanes * 4];
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_MACHINE_WARP_H
