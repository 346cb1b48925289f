// Spares the copy from a state's new value into the state.

#include "passes/Counts.h"
#include "passes/plan/Lifetimes.h"
#include "passes/plan/Passes.h"

namespace dlc::plan {
#define GEN_PASS_DEF_UPDATESTATESINPLACE
#include "passes/plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;

namespace {

struct UpdateStatesInPlace : dlc::plan::impl::UpdateStatesInPlaceBase<UpdateStatesInPlace> {
  /// The instructions that touch a root buffer, in order, once each.
  using Uses = llvm::DenseMap<BufferOp, SmallVector<Operation *>>;

  void runOnOperation() override {
    numInPlace = 0;
    ProgramOp program = getOperation();
    Uses uses;
    llvm::DenseMap<Operation *, int64_t> numbers; // a loop's: of its end
    forEachInstruction(program, [&](Operation *op, int64_t number) {
      numbers[op] = number;
      for (Value operand : op->getOperands())
        if (auto &list = uses[rootBuffer(operand)]; list.empty() || list.back() != op)
          list.push_back(op);
    });
    Block &body = program.getBody().front();
    for (CopyOp copy : llvm::make_early_inc_range(body.getOps<CopyOp>()))
      tryInPlace(copy, body, uses, numbers);
    dlc::reportCounts(*this, program, {{"in-place", numInPlace}});
  }

  void tryInPlace(CopyOp copy, Block &body, Uses &uses,
                  const llvm::DenseMap<Operation *, int64_t> &numbers) {
    auto value = copy.getSource().getDefiningOp<BufferOp>();
    auto state = copy.getTarget().getDefiningOp<BufferOp>();
    if (state.getStorage() != Storage::State || value.getStorage() != Storage::Arena ||
        value.getType() != state.getType())
      return;
    auto writer = dyn_cast<DispatchOp>(uses[value].front());
    if (!writer || writer->getBlock() != &body || !isOnlyWriter(writer, value, uses[value]))
      return;
    for (Operation *use : uses[state])
      if (use != copy && numbers.lookup(use) > numbers.lookup(writer))
        return;
    if (!readsInPlace(writer, state, value))
      return;
    // Later readers of the new value find it in the state.
    uses[state] = uses[value];
    llvm::erase(uses[state], copy.getOperation());
    value.setStorage(Storage::Alias);
    value.getBaseMutable().assign(state.getResult());
    copy.erase();
    ++numInPlace;
  }

  /// Later instructions may read the value, but none changes it.
  bool isOnlyWriter(DispatchOp writer, BufferOp value, ArrayRef<Operation *> uses) {
    auto isValue = [&](Value v) { return rootBuffer(v) == value; };
    if (llvm::count_if(writer.getOutputs(), isValue) != 1 ||
        llvm::any_of(writer.getInputs(), isValue))
      return false;
    return llvm::all_of(uses.drop_front(), [&](Operation *use) {
      if (auto dispatch = dyn_cast<DispatchOp>(use))
        return llvm::none_of(dispatch.getOutputs(), isValue);
      if (auto copy = dyn_cast<CopyOp>(use))
        return !isValue(copy.getTarget());
      return isa<CheckIndicesOp, BindSymbolOp>(use);
    });
  }

  /// True when the writer reads of the state at most what it writes there.
  bool readsInPlace(DispatchOp writer, BufferOp state, BufferOp value) {
    SmallVector<size_t> reads;
    for (auto [i, input] : llvm::enumerate(writer.getInputs()))
      if (rootBuffer(input) == state)
        reads.push_back(i);
    if (llvm::any_of(writer.getOutputs(), [&](Value v) { return rootBuffer(v) == state; }))
      return false;
    auto pairs = writer.getInplace().value_or(ArrayRef<int64_t>());
    return llvm::all_of(reads, [&](size_t read) {
      for (size_t i = 0; i + 1 < pairs.size(); i += 2)
        if (size_t(pairs[i]) == read && rootBuffer(writer.getOutputs()[pairs[i + 1]]) == value)
          return true;
      return false;
    });
  }

  int64_t numInPlace = 0;
};

} // namespace
