#include "passes/plan/PeakMemory.h"

#include "passes/plan/Lifetimes.h"

#include "runtime/schema/ArenaPlanner.h"

#include <algorithm>

using namespace mlir;

namespace dlc::plan {

namespace {

/// A run's sizes: one per symbol, none for what the data decide.
using Sizes = SmallVector<std::optional<int64_t>>;

/// The buffer's bytes; nullopt when a size is unknown, -1 when they overflow.
std::optional<int64_t> bytesAt(BufferOp buffer, const Sizes &sizes) {
  int64_t bytes = llvm::divideCeil(
      cast<RankedTensorType>(buffer.getType()).getElementTypeBitWidth(), 8);
  AffineMap map = buffer.getDims();
  SmallVector<AffineExpr> values;
  for (auto [i, size] : llvm::enumerate(sizes))
    values.push_back(size ? getAffineConstantExpr(*size, map.getContext())
                          : getAffineSymbolExpr(i, map.getContext()));
  for (AffineExpr dim : map.getResults()) {
    auto size = dyn_cast<AffineConstantExpr>(dim.replaceSymbols(values));
    if (!size)
      return std::nullopt;
    if (size.getValue() < 0 || llvm::MulOverflow(bytes, size.getValue(), bytes))
      return -1;
  }
  return bytes;
}

std::optional<PeakMemory> peakAt(ProgramOp program, const Sizes &sizes) {
  PeakMemory peak;
  peak.arenaBytes = program.getArenaBytes().value_or(0);
  peak.lowerBoundBytes = program.getArenaLowerBound().value_or(0);
  auto lifetimes = computeLifetimes(program);
  std::vector<schema::ArenaInterval> intervals;
  for (auto buffer : program.getBody().front().getOps<BufferOp>()) {
    auto found = lifetimes.find(buffer);
    if (buffer.getStorage() != Storage::Arena || buffer.getOffset() || found == lifetimes.end())
      continue;
    auto bytes = bytesAt(buffer, sizes);
    constexpr int64_t most = int64_t(1) << 56; // sums of them stay below 2^63
    if (bytes && (*bytes < 0 || *bytes > most))
      return std::nullopt;
    if (bytes)
      intervals.push_back({found->second.first, found->second.last, *bytes});
    else
      ++peak.unknownBuffers;
  }
  if (intervals.empty())
    return peak;
  schema::ArenaPlan plan = schema::planArena(intervals);
  peak.arenaBytes += plan.peakBytes;
  peak.lowerBoundBytes += plan.lowerBoundBytes;
  return peak;
}

} // namespace

SmallVector<PeakMemory> peakMemory(ProgramOp program) {
  llvm::SmallDenseSet<int64_t> fromData;
  program.walk([&](BindSymbolOp bind) { fromData.insert(bind.getSymbol()); });
  Sizes smallest, largest;
  std::string smallText, largeText;
  bool bounded = true;
  for (auto [i, symbol] : llvm::enumerate(program.getBody().front().getOps<SymbolOp>())) {
    if (fromData.contains(i)) {
      smallest.push_back(std::nullopt);
      largest.push_back(std::nullopt);
      continue;
    }
    int64_t low = std::max<int64_t>(symbol.getLower(), 1), high = symbol.getUpper();
    smallest.push_back(low);
    largest.push_back(high);
    bounded &= high != INT64_MAX;
    auto add = [&](std::string &text, int64_t size) {
      text += (text.empty() ? "" : ", ") + symbol.getName().str() + "=" + std::to_string(size);
    };
    add(smallText, low);
    add(largeText, high);
  }
  SmallVector<PeakMemory> result;
  auto add = [&](const Sizes &sizes, const std::string &text) {
    if (auto peak = peakAt(program, sizes)) {
      peak->sizes = text;
      result.push_back(std::move(*peak));
    }
  };
  add(smallest, smallText);
  if (bounded && largeText != smallText)
    add(largest, largeText);
  return result;
}

} // namespace dlc::plan
