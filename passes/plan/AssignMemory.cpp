// Places arena buffers of static size; see runtime/schema/ArenaPlanner.h for how.

#include "passes/plan/Lifetimes.h"
#include "passes/plan/Passes.h"

#include "runtime/schema/ArenaPlanner.h"

#include "mlir/IR/Builders.h"

namespace dlc::plan {
#define GEN_PASS_DEF_ASSIGNMEMORY
#include "passes/plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;

namespace {

struct AssignMemory : dlc::plan::impl::AssignMemoryBase<AssignMemory> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    auto lifetimes = computeLifetimes(program);
    std::vector<dlc::schema::ArenaInterval> intervals;
    SmallVector<BufferOp> buffers;
    for (auto buffer : program.getBody().front().getOps<BufferOp>()) {
      if (buffer.getStorage() != Storage::Arena)
        continue;
      auto type = cast<RankedTensorType>(buffer.getType());
      auto bytes = staticBytes(buffer);
      if (!bytes && type.hasStaticShape()) {
        buffer.emitError("needs more memory than an address can count: ") << type;
        return signalPassFailure();
      }
      auto found = lifetimes.find(buffer);
      if (!bytes || found == lifetimes.end())
        continue;
      intervals.push_back({found->second.first, found->second.last, *bytes});
      buffers.push_back(buffer);
    }
    Builder b(&getContext());
    dlc::schema::ArenaPlan plan = dlc::schema::planArena(intervals);
    int64_t peak = buffers.empty() ? 0 : plan.peakBytes;
    for (auto [buffer, offset] : llvm::zip(buffers, plan.offsets))
      buffer.setOffsetAttr(b.getI64IntegerAttr(offset));
    program.setArenaBytesAttr(b.getI64IntegerAttr(peak));
    program.setArenaLowerBoundAttr(b.getI64IntegerAttr(plan.lowerBoundBytes));
  }
};

} // namespace
