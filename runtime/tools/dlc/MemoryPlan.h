// The memory plan of an artifact for given sizes, and pictures of it.

#ifndef DLC_RUNTIME_TOOLS_DLC_MEMORYPLAN_H
#define DLC_RUNTIME_TOOLS_DLC_MEMORYPLAN_H

#include "runtime/tools/dlc/Artifact.h"

#include <ostream>

namespace dlc::cli {

/// A buffer in the arena: a rectangle in time and space.
struct Placement {
  std::string name, type;
  int64_t offset, sizeBytes;
  int64_t first, last; // instructions, both included
};

struct MemoryPlan {
  std::vector<Placement> placements;
  int64_t arenaBytes = 0;  // all of it
  int64_t staticBytes = 0; // the part that the compiler placed
  int64_t lowerBoundBytes = 0;
  int64_t instructions = 0;
  int64_t unknown = 0;     // buffers whose size only a run decides
};

/// Places what the compiler left open as the runtime will.
MemoryPlan memoryPlan(const Artifact &artifact, const SymbolValues &symbols);

/// Time runs right, offsets run down; each buffer is a letter.
void drawPlan(std::ostream &os, const MemoryPlan &plan);
/// The same as SVG, with names on hover.
std::string planSvg(const MemoryPlan &plan, const std::string &title);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_MEMORYPLAN_H
