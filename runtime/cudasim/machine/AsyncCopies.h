// cp.async: copies to shared memory that have been asked for and not yet waited for.
// They happen when they are waited for, as late as the hardware may do them.

#ifndef DLC_RUNTIME_CUDASIM_MACHINE_ASYNCCOPIES_H
#define DLC_RUNTIME_CUDASIM_MACHINE_ASYNCCOPIES_H

#include <cstdint>
#include <deque>
#include <vector>

namespace dlc::sim {

struct AsyncCopy {
  uint32_t shared = 0;
  uint8_t bytes = 0, filled = 0; // written, and of those from memory; the rest is zero
  uint8_t lane = 0;
  uint8_t data[16];
};

struct AsyncCopies {
  struct Group {
    uint32_t lanes = 0;
    std::vector<AsyncCopy> copies;
  };
  std::vector<AsyncCopy> open; // not committed
  std::deque<Group> groups;
  void clear() {
    open.clear();
    groups.clear();
  }
  bool empty() const { return open.empty() && groups.empty(); }
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_MACHINE_ASYNCCOPIES_H
