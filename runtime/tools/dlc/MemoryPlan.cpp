#include "runtime/tools/dlc/MemoryPlan.h"

#include "runtime/schema/ArenaPlanner.h"

#include <algorithm>

namespace dlc::cli {

namespace {

/// The most that is live at one instruction, each buffer as large as the planner
/// makes it.
int64_t mostLive(const std::vector<Placement> &placements) {
  std::vector<std::pair<int64_t, int64_t>> events; // instruction, change
  for (const Placement &placement : placements) {
    constexpr int64_t unit = schema::kBufferAlignment;
    int64_t size = placement.sizeBytes / unit * unit + (placement.sizeBytes % unit ? unit : 0);
    events.emplace_back(placement.first, size);
    events.emplace_back(placement.last + 1, -size);
  }
  std::ranges::sort(events);
  int64_t live = 0, most = 0;
  for (auto [when, change] : events)
    most = std::max(most, live += change);
  return most;
}

} // namespace

MemoryPlan memoryPlan(const Artifact &artifact, const SymbolValues &symbols) {
  MemoryPlan plan;
  plan.staticBytes = artifact.table().arena_bytes();
  std::vector<schema::ArenaInterval> open;
  std::vector<size_t> which;
  for (uint32_t i = 0; i < artifact.table().values()->size(); ++i) {
    const schema::Value &value = artifact.value(i);
    plan.instructions = std::max<int64_t>(plan.instructions, value.last_use() + int64_t(1));
    if (value.storage() != schema::Storage::Arena)
      continue;
    int64_t size = valueBytes(artifact, i, symbols);
    if (size < 0) {
      ++plan.unknown;
      continue;
    }
    std::string name = text(value.name());
    plan.placements.push_back({name.empty() ? "value " + std::to_string(i) : name,
                               artifact.valueType(i), value.offset(), size, value.first_use(),
                               std::max(value.first_use(), value.last_use())});
    if (value.offset() < 0) {
      open.push_back({value.first_use(), value.last_use(), size});
      which.push_back(plan.placements.size() - 1);
    }
  }
  schema::ArenaPlan placed = schema::planArena(open);
  for (size_t i = 0; i < which.size(); ++i)
    plan.placements[which[i]].offset = plan.staticBytes + placed.offsets[i];
  plan.arenaBytes = plan.staticBytes + (open.empty() ? 0 : placed.peakBytes);
  plan.lowerBoundBytes = mostLive(plan.placements);
  return plan;
}

} // namespace dlc::cli
