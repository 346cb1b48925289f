// Reuses a dying operand's memory for a result.

#include "passes/Counts.h"
#include "passes/plan/Lifetimes.h"
#include "passes/plan/Passes.h"

namespace dlc::plan {
#define GEN_PASS_DEF_ASSIGNINPLACE
#include "passes/plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;

namespace {

struct AssignInPlace : dlc::plan::impl::AssignInPlaceBase<AssignInPlace> {
  void runOnOperation() override {
    numInPlace = 0;
    auto lifetimes = computeLifetimes(getOperation());
    forEachInstruction(getOperation(), [&](Operation *op, int64_t number) {
      if (auto dispatch = dyn_cast<DispatchOp>(op))
        tryInPlace(dispatch, number, lifetimes);
    });
    dlc::reportCounts(*this, getOperation(), {{"in-place", numInPlace}});
  }

  void tryInPlace(DispatchOp dispatch, int64_t number,
                  llvm::DenseMap<BufferOp, Lifetime> &lifetimes) {
    auto pairs = dispatch.getInplace().value_or(ArrayRef<int64_t>());
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      Value input = dispatch.getInputs()[pairs[i]];
      auto output = dispatch.getOutputs()[pairs[i + 1]].getDefiningOp<BufferOp>();
      BufferOp root = rootBuffer(input);
      if (output.getStorage() != Storage::Arena || root.getStorage() != Storage::Arena)
        continue;
      if (lifetimes[root].last != number || isReadTwice(dispatch, root))
        continue;
      output.setStorage(Storage::Alias);
      output.getBaseMutable().assign(input);
      lifetimes[root].last = lifetimes[output].last;
      lifetimes.erase(output);
      ++numInPlace;
      return;
    }
  }

  /// Another operand over the same memory could be read after it is written.
  bool isReadTwice(DispatchOp dispatch, BufferOp root) {
    return llvm::count_if(dispatch.getInputs(), [&](Value v) {
             return rootBuffer(v) == root;
           }) > 1;
  }

  int64_t numInPlace = 0;
};

} // namespace
