// Places buffers with lifetimes in one arena. Used by the compiler for static
// sizes and by the runtime for sizes that only a run knows.

#ifndef DLC_RUNTIME_SCHEMA_ARENAPLANNER_H
#define DLC_RUNTIME_SCHEMA_ARENAPLANNER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlc::schema {

inline constexpr int64_t kBufferAlignment = 64;

/// A buffer that is live from instruction `first` to `last`, both included.
struct ArenaInterval {
  int64_t first, last;
  int64_t sizeBytes;
};

struct ArenaPlan {
  std::vector<int64_t> offsets; // bytes, one per interval
  int64_t peakBytes = 0;
  int64_t lowerBoundBytes = 0;  // the most that are live at one instruction
};

/// Greedy best-fit placement in several orders; the best one wins.
/// Deterministic. O(n^2) in the number of intervals.
ArenaPlan planArena(const std::vector<ArenaInterval> &intervals);

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_ARENAPLANNER_H
