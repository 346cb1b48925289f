#include "runtime/schema/ArenaPlanner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace dlc::schema {

namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

using Intervals = std::vector<ArenaInterval>;
using Before = std::function<bool(const ArenaInterval &, const ArenaInterval &)>;

/// The smallest gap that holds `size` between buffers live at the same time.
int64_t bestFit(std::vector<std::pair<int64_t, int64_t>> &busy, int64_t size) {
  std::sort(busy.begin(), busy.end());
  int64_t end = 0, best = -1, bestGap = INT64_MAX;
  for (auto [begin, stop] : busy) {
    if (int64_t gap = begin - end; gap >= size && gap < bestGap)
      best = end, bestGap = gap;
    end = std::max(end, stop);
  }
  return best >= 0 ? best : end;
}

ArenaPlan place(const Intervals &intervals, const Before &before) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (before(intervals[a], intervals[b]))
      return true;
    return !before(intervals[b], intervals[a]) && a < b;
  });
  ArenaPlan plan;
  plan.offsets.assign(intervals.size(), 0);
  std::vector<size_t> placed;
  for (size_t i : order) {
    const ArenaInterval &buffer = intervals[i];
    std::vector<std::pair<int64_t, int64_t>> busy;
    for (size_t j : placed)
      if (intervals[j].first <= buffer.last && buffer.first <= intervals[j].last)
        busy.emplace_back(plan.offsets[j],
                          plan.offsets[j] + aligned(intervals[j].sizeBytes));
    int64_t size = aligned(buffer.sizeBytes);
    plan.offsets[i] = bestFit(busy, size);
    plan.peakBytes = std::max(plan.peakBytes, plan.offsets[i] + size);
    if (size > 0)
      placed.push_back(i);
  }
  return plan;
}

int64_t lowerBound(const Intervals &intervals) {
  std::map<int64_t, int64_t> change;
  for (const ArenaInterval &buffer : intervals) {
    change[buffer.first] += aligned(buffer.sizeBytes);
    change[buffer.last + 1] -= aligned(buffer.sizeBytes);
  }
  int64_t live = 0, most = 0;
  for (auto [at, delta] : change)
    most = std::max(most, live += delta);
  return most;
}

} // namespace

ArenaPlan planArena(const Intervals &intervals) {
  auto length = [](const ArenaInterval &i) { return i.last - i.first + 1; };
  const Before orders[] = {
      [](auto &a, auto &b) { return a.sizeBytes > b.sizeBytes; },
      [&](auto &a, auto &b) {
        return double(a.sizeBytes) * length(a) > double(b.sizeBytes) * length(b);
      },
      [&](auto &a, auto &b) { return length(a) > length(b); },
      [](auto &a, auto &b) { return a.first < b.first; }};
  int64_t bound = lowerBound(intervals);
  ArenaPlan best;
  best.peakBytes = INT64_MAX;
  for (const Before &order : orders) {
    ArenaPlan plan = place(intervals, order);
    if (plan.peakBytes < best.peakBytes)
      best = std::move(plan);
    if (best.peakBytes == bound)
      break;
  }
  best.lowerBoundBytes = bound;
  return best;
}

} // namespace dlc::schema
