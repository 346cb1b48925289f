// The memory that a run of a program takes, for sizes that are given.

#ifndef DLC_PASSES_PLAN_PEAKMEMORY_H
#define DLC_PASSES_PLAN_PEAKMEMORY_H

#include "dialects/plan/Plan.h"

#include <optional>
#include <string>

namespace dlc::plan {

struct PeakMemory {
  /// The sizes it holds for, as "N=1, S=128"; empty when all are static.
  std::string sizes;
  int64_t arenaBytes = 0;
  int64_t lowerBoundBytes = 0; // the most that are live at once
  /// Buffers whose sizes only the data decide; they are not counted.
  int64_t unknownBuffers = 0;
};

/// Plans the arena as the runtime will: the static part as it was assigned, and
/// the rest for the smallest sizes that the inputs may have (at least 1), then for
/// the largest ones where all are bounded and differ. Sizes whose buffers cannot
/// be counted in 63 bits are left out.
llvm::SmallVector<PeakMemory> peakMemory(ProgramOp program);

} // namespace dlc::plan

#endif // DLC_PASSES_PLAN_PEAKMEMORY_H
