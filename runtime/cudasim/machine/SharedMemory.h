// A block's shared memory and what the checkers know of each of its words.

#ifndef DLC_RUNTIME_CUDASIM_MACHINE_SHAREDMEMORY_H
#define DLC_RUNTIME_CUDASIM_MACHINE_SHAREDMEMORY_H

#include <cstdint>
#include <cstring>
#include <vector>

namespace dlc::sim {

/// Who accesses, and when: barriers of the block and of the warp count time.
struct SharedAccess {
  uint32_t epoch = 0;
  uint16_t thread = 0, warpEpoch = 0;
};

enum class Hazard : uint8_t { None, WriteAfterWrite, ReadAfterWrite, WriteAfterRead, Pending, Uninitialized };

class SharedMemory {
public:
  void reset(uint32_t bytes);
  uint32_t size() const { return uint32_t(memory.size()); }
  char *at(uint32_t offset) { return memory.data() + offset; }

  /// `bytes` within a word or a multiple of words; the address is a multiple of it.
  Hazard read(uint32_t offset, unsigned bytes, const SharedAccess &who, uint16_t *other);
  Hazard write(uint32_t offset, unsigned bytes, const SharedAccess &who, uint16_t *other);
  void setPending(uint32_t offset, unsigned bytes, bool isPending);
  /// Atomics of several threads do not race with each other.
  Hazard atomic(uint32_t offset, unsigned bytes, const SharedAccess &who, uint16_t *other);

private:
  struct Word {
    uint32_t writeEpoch = 0, readEpoch = 0;
    uint16_t writer = 0, reader = 0, writeWarpEpoch = 0, readWarpEpoch = 0;
    uint8_t writeMask = 0, readMask = 0, initialized = 0;
    uint8_t manyReaders : 1, isPending : 1, isAtomic : 1;
  };
  static bool isOrdered(uint32_t epoch, uint16_t thread, uint16_t warpEpoch, const SharedAccess &who) {
    return epoch != who.epoch || thread == who.thread ||
           (thread / 32 == who.thread / 32 && warpEpoch != who.warpEpoch);
  }
  Hazard readWord(Word &word, uint8_t mask, const SharedAccess &who, uint16_t *other);
  Hazard writeWord(Word &word, uint8_t mask, const SharedAccess &who, uint16_t *other, bool isAtomic);
  template <class F> Hazard each(uint32_t offset, unsigned bytes, F f) {
    if (bytes < 4)
      return f(words[offset / 4], uint8_t(((1u << bytes) - 1) << (offset & 3)));
    Hazard worst = Hazard::None;
    for (unsigned i = 0; i < bytes / 4; ++i)
      if (Hazard hazard = f(words[offset / 4 + i], 15); hazard != Hazard::None)
        worst = hazard;
    return worst;
  }

  std::vector<char> memory;
  std::vector<Word> words;
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_MACHINE_SHAREDMEMORY_H
