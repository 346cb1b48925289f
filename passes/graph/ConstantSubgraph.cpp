#include "passes/ConstantSubgraph.h"

#include "dialects/dl/ConstantData.h"
#include "dialects/dl/Dl.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {

namespace {

int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dl::tensorBytes(type).value_or(INT64_MAX) : INT64_MAX;
}

class Extraction {
public:
  explicit Extraction(func::FuncOp function) : function(function) {}

  ConstantSubgraph run() {
    for (Operation &op : function.getBody().front())
      if (isFoldable(&op))
        members.insert(&op);
    for (Operation *op : members)
      for (Value result : op->getResults())
        if (isReadOutside(result))
          frontier.push_back(result);
    if (frontier.empty())
      return {};
    return build();
  }

private:
  bool isConstant(Value value) {
    Operation *def = value.getDefiningOp();
    return def && (def->hasTrait<OpTrait::ConstantLike>() || members.contains(def));
  }

  /// Nothing checks indices while constants are evaluated: type inference has
  /// checked those of small constants, others wait for the run.
  bool hasUncheckedIndices(Operation *op) {
    if (!isa<dl::ChecksIndices>(op))
      return false;
    return llvm::any_of(op->getOperands(), [](Value operand) {
      auto type = cast<RankedTensorType>(operand.getType());
      Operation *def = operand.getDefiningOp();
      bool isSmall = def && def->hasTrait<OpTrait::ConstantLike>() &&
                     type.getNumElements() <= dl::kMaxTrackedElements;
      return isa<IntegerType>(type.getElementType()) && !isSmall;
    });
  }

  bool isFoldable(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || op->getNumResults() == 0 ||
        op->getNumRegions() != 0 || !isPure(op) || hasUncheckedIndices(op) || !isa<dl::LowersToLinalg>(op) ||
        !llvm::all_of(op->getOperands(), [&](Value v) { return isConstant(v); }))
      return false;
    int64_t operandBytes = 0;
    for (Value operand : op->getOperands())
      if (llvm::AddOverflow(operandBytes, bytesOf(operand), operandBytes))
        return false;
    // Packed weights are a little larger than plain ones: blocks are padded.
    int64_t most = std::max(kMaxFoldedGrowthBytes, operandBytes / 8 * 9);
    return llvm::all_of(op->getResults(), [&](Value result) { return bytesOf(result) <= most; });
  }

  bool isReadOutside(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !members.contains(user);
    });
  }

  ConstantSubgraph build() {
    OpBuilder b(function.getContext());
    SmallVector<Type> types(ValueRange(frontier).getTypes());
    auto folded = func::FuncOp::create(function.getLoc(), "constants",
                                       b.getFunctionType({}, types));
    b.setInsertionPointToStart(folded.addEntryBlock());
    IRMapping mapping;
    for (Operation *op : members) {
      for (Value operand : op->getOperands())
        if (!mapping.contains(operand))
          b.clone(*operand.getDefiningOp(), mapping);
      b.clone(*op, mapping);
    }
    SmallVector<Value> results;
    for (Value value : frontier)
      results.push_back(mapping.lookup(value));
    func::ReturnOp::create(b, function.getLoc(), results);
    return {folded, std::move(frontier)};
  }

  func::FuncOp function;
  llvm::SetVector<Operation *> members;
  SmallVector<Value> frontier;
};

} // namespace

ConstantSubgraph extractConstantSubgraph(func::FuncOp function) {
  return Extraction(function).run();
}

} // namespace dlc
