// Memory for one kernel call: a bump allocator per thread that keeps its size.

#ifndef DLC_RUNTIME_CORE_SCRATCH_H
#define DLC_RUNTIME_CORE_SCRATCH_H

#include "runtime/schema/KernelAbi.h"

#include <vector>

namespace dlc::rt {

class Scratch {
public:
  /// The calling thread's.
  static Scratch &ofThread();
  ~Scratch();

  void reset();
  void *allocate(int64_t sizeBytes);
  /// What DlcKernelCall::scratch points to; scratchState is unused.
  static void *callback(const DlcKernelCall *call, int64_t sizeBytes);

private:
  char *memory = nullptr;
  int64_t capacity = 0, used = 0, wanted = 0;
  std::vector<void *> overflow; // until the next reset makes `memory` larger
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_SCRATCH_H
