#include "passes/plan/Lifetimes.h"

#include "dialects/dl/ConstantData.h"

using namespace mlir;

namespace dlc::plan {

bool isInstruction(Operation *op) {
  return isa<DispatchOp, CopyOp, BindSymbolOp, CheckIndicesOp, IfOp, LoopOp>(op);
}

namespace {

void visitBlock(Block &block, int64_t &number,
                llvm::function_ref<void(Operation *, int64_t)> visit) {
  for (Operation &op : block) {
    if (!isInstruction(&op))
      continue;
    visit(&op, number++);
    for (Region &region : op.getRegions())
      visitBlock(region.front(), number, visit);
    if (isa<LoopOp>(op))
      visit(&op, number++);
  }
}

} // namespace

void forEachInstruction(ProgramOp program,
                        llvm::function_ref<void(Operation *, int64_t)> visit) {
  int64_t number = 0;
  visitBlock(program.getBody().front(), number, visit);
}

BufferOp rootBuffer(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  while (buffer.getStorage() == Storage::Alias)
    buffer = buffer.getBase().getDefiningOp<BufferOp>();
  return buffer;
}

llvm::DenseMap<BufferOp, Lifetime> computeLifetimes(ProgramOp program) {
  llvm::DenseMap<BufferOp, Lifetime> lifetimes;
  llvm::DenseMap<Operation *, int64_t> loopStarts;
  forEachInstruction(program, [&](Operation *op, int64_t number) {
    for (Value operand : op->getOperands()) {
      Lifetime &lifetime = lifetimes[rootBuffer(operand)];
      lifetime.first = std::min(lifetime.first, number);
      lifetime.last = std::max(lifetime.last, number);
    }
    if (!isa<LoopOp>(op) || loopStarts.try_emplace(op, number).second)
      return;
    // What the body reads from before the loop, the next iteration reads again.
    int64_t start = loopStarts[op];
    for (auto &[buffer, lifetime] : lifetimes)
      if (lifetime.first < start && lifetime.last > start)
        lifetime.last = number;
  });
  return lifetimes;
}

std::optional<int64_t> staticBytes(BufferOp buffer) {
  return dl::tensorBytes(cast<RankedTensorType>(buffer.getType()));
}

} // namespace dlc::plan
