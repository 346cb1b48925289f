// Moves convolutional networks to channels-last. Transposes enter where a
// channels-first value is needed and sink towards the outputs, where pairs of
// them cancel.

#include "passes/Counts.h"
#include "passes/Passes.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Movement.h"

namespace dlc {
#define GEN_PASS_DEF_CHANNELSLAST
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

/// N,C,spatial.. -> N,spatial..,C and back.
SmallVector<int64_t> toLast(int64_t rank) {
  SmallVector<int64_t> perm = {0};
  for (int64_t axis = 2; axis < rank; ++axis)
    perm.push_back(axis);
  perm.push_back(1);
  return perm;
}
SmallVector<int64_t> toFirst(int64_t rank) {
  SmallVector<int64_t> perm = {0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis)
    perm.push_back(axis);
  return perm;
}

int64_t rankOf(Value v) { return cast<RankedTensorType>(v.getType()).getRank(); }

class Rewriter {
public:
  explicit Rewriter(func::FuncOp function) : function(function), b(function.getContext()) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops)
      visit(op);
    // What became unused goes, from the end.
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
  unsigned numConverted = 0, numSunk = 0;

private:
  /// The channels-last value behind a transpose to channels-first.
  Value lastOf(Value value) {
    auto transpose = value.getDefiningOp<dl::TransposeOp>();
    if (transpose && transpose.getPermutation() == ArrayRef<int64_t>(toFirst(rankOf(value))))
      return transpose.getInput();
    return {};
  }

  bool isCheap(Value value) {
    Operation *def = value.getDefiningOp();
    auto type = cast<RankedTensorType>(value.getType());
    return (def && def->hasTrait<OpTrait::ConstantLike>()) ||
           (type.hasStaticShape() && type.getNumElements() <= 4096);
  }

  void visit(Operation *op) {
    if (op->getNumResults() != 1)
      return;
    auto layout = dyn_cast<dl::LayoutAware>(op);
    bool isElementwise = isa<dl::Elementwise>(op);
    int64_t rank = isa<RankedTensorType>(op->getResult(0).getType()) ? rankOf(op->getResult(0)) : 0;
    if ((!layout && !isElementwise) || rank < 3)
      return;
    bool prefers = layout && layout.prefersChannelsLast();
    int known = 0, costly = 0;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (isElementwise ? rankOf(operand) < rank : !layout.permutesOperand(i))
        continue;
      if (lastOf(operand))
        ++known;
      else if (!isCheap(operand))
        ++costly;
    }
    // A transpose on the result replaces those on the operands.
    if (!prefers && (known == 0 || costly + 1 > known))
      return;
    b.setInsertionPoint(op);
    Value result = isElementwise ? convertElementwise(op, rank) : convert(layout, rank);
    if (!result)
      return;
    ++(prefers ? numConverted : numSunk);
    Value back = dl::make<dl::TransposeOp>(b, op->getLoc(), result,
                                           b.getDenseI64ArrayAttr(toFirst(rank)));
    op->getResult(0).replaceAllUsesWith(back);
  }

  Value permuted(Value operand, int64_t rank) {
    if (Value last = lastOf(operand))
      return last;
    return dl::make<dl::TransposeOp>(b, operand.getLoc(), operand,
                                     b.getDenseI64ArrayAttr(toLast(rank)));
  }

  Value convert(dl::LayoutAware op, int64_t rank) {
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(op.permutesOperand(i) ? permuted(operand, rank) : operand);
    auto results = op.permuteLayout(b, operands, toLast(rank));
    return failed(results) ? Value() : results->front();
  }

  Value convertElementwise(Operation *op, int64_t rank) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto type = cast<RankedTensorType>(operand.getType());
      bool isScalar = type.hasStaticShape() && type.getNumElements() == 1;
      if (type.getRank() == rank) {
        operands.push_back(permuted(operand, rank));
      } else if (isScalar) {
        operands.push_back(operand);
      } else {
        // Leading 1s make the broadcast explicit, then it permutes like the rest.
        if (!type.hasStaticShape())
          return {};
        SmallVector<int64_t> shape(rank - type.getRank(), 1);
        llvm::append_range(shape, type.getShape());
        auto shapeType = RankedTensorType::get({rank}, b.getI64Type());
        Value sizes = dl::ConstantOp::create(b, op->getLoc(), shapeType,
                                             DenseElementsAttr::get(shapeType, ArrayRef<int64_t>(shape)));
        Value full = dl::make<dl::ReshapeOp>(b, op->getLoc(), operand, sizes);
        operands.push_back(permuted(full, rank));
      }
    }
    Operation *clone = b.clone(*op);
    clone->setOperands(operands);
    if (failed(dl::refineResultTypes(clone))) {
      clone->erase();
      return {};
    }
    return clone->getResult(0);
  }

  func::FuncOp function;
  OpBuilder b;
};

struct ChannelsLast : dlc::impl::ChannelsLastBase<ChannelsLast> {
  void runOnOperation() override {
    Rewriter rewriter(getOperation());
    rewriter.run();
    reportCounts(*this, getOperation(), {{"converted", rewriter.numConverted},
                                         {"sunk", rewriter.numSunk}});
  }
};

} // namespace
