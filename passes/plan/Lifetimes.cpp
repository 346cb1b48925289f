#include "passes/plan/Lifetimes.h"

#include "dialects/dl/ConstantData.h"

using namespace mlir;

namespace dlc::plan {

bool isInstruction(Operation *op) {
  return isa<DispatchOp, CopyOp, BindSymbolOp, CheckIndicesOp>(op);
}

BufferOp rootBuffer(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  while (buffer.getStorage() == Storage::Alias)
    buffer = buffer.getBase().getDefiningOp<BufferOp>();
  return buffer;
}

llvm::DenseMap<BufferOp, Lifetime> computeLifetimes(ProgramOp program) {
  llvm::DenseMap<BufferOp, Lifetime> lifetimes;
  int64_t number = 0;
  for (Operation &op : program.getBody().front()) {
    if (!isInstruction(&op))
      continue;
    for (Value operand : op.getOperands()) {
      Lifetime &lifetime = lifetimes[rootBuffer(operand)];
      lifetime.first = std::min(lifetime.first, number);
      lifetime.last = std::max(lifetime.last, number);
    }
    ++number;
  }
  return lifetimes;
}

std::optional<int64_t> staticBytes(BufferOp buffer) {
  return dl::tensorBytes(cast<RankedTensorType>(buffer.getType()));
}

} // namespace dlc::plan
