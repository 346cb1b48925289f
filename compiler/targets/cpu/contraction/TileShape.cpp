// How large a register tile is: accumulators, one block row of the filter and
// one broadcast must fit the register file.

#include "compiler/targets/cpu/contraction/Contraction.h"

namespace dlc::cpu {

namespace {

int64_t blockVectors(const VectorIsa &isa, int64_t outChannels) {
  return outChannels <= isa.lanes ? 1 : 2;
}

} // namespace

int64_t blockColumns(const VectorIsa &isa, int64_t outChannels) {
  return blockVectors(isa, outChannels) * isa.lanes;
}

TileShape chooseTile(const VectorIsa &isa, int64_t outChannels,
                     std::optional<int64_t> pixels) {
  int64_t vectors = blockVectors(isa, outChannels);
  int64_t most = (isa.registers - vectors - 1) / vectors;
  most = std::min<int64_t>(most, 14);
  if (!pixels || *pixels <= 0)
    return {most, vectors};
  // A tile costs its rows, plus about two rows of fixed work.
  int64_t best = most, bestCost = INT64_MAX;
  for (int64_t rows = std::min(most, *pixels); rows >= 1; --rows) {
    int64_t cost = (*pixels + rows - 1) / rows * (rows + 2);
    if (cost < bestCost)
      best = rows, bestCost = cost;
  }
  return {best, vectors};
}

} // namespace dlc::cpu
