// Elementwise ops broadcast by themselves: an expanded operand is needless where another
// one has all the axes, and what computes on it alone computes on fewer elements first.

#include "dialects/dl/Dl.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Movement.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace dlc::dl {

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

struct FoldExpand : OpRewritePattern<ExpandOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ExpandOp expand, PatternRewriter &rewriter) const override {
    for (OpOperand &use : expand->getUses()) {
      Operation *user = use.getOwner();
      if (!isa<Elementwise>(user) || user->getNumResults() != 1)
        continue;
      if (hasFullOperand(expand, use)) {
        rewriter.modifyOpInPlace(user, [&] { use.set(expand.getInput()); });
        return success();
      }
      if (computesOnItAlone(expand, use)) {
        computeFirst(expand, use, rewriter);
        return success();
      }
    }
    return failure();
  }

private:
  /// Another operand has the result's sizes, so that these do not come from here.
  static bool hasFullOperand(ExpandOp expand, OpOperand &use) {
    RankedTensorType type = typeOf(expand.getResult());
    auto sizesOf = expand.getShape().getDefiningOp<ShapeOfOp>();
    return llvm::any_of(use.getOwner()->getOpOperands(), [&](OpOperand &other) {
      if (&other == &use || other.get() == expand.getResult() ||
          !isa<RankedTensorType>(other.get().getType()))
        return false;
      bool isSame = sizesOf && sizesOf.getInput() == other.get();
      return isSame || (type.hasStaticShape() && typeOf(other.get()).getShape() == type.getShape());
    });
  }

  /// Beside it there are only single elements.
  static bool computesOnItAlone(ExpandOp expand, OpOperand &use) {
    RankedTensorType input = typeOf(expand.getInput()), result = typeOf(use.getOwner()->getResult(0));
    if (typeOf(expand.getResult()).getShape() != result.getShape())
      return false;
    return llvm::all_of(use.getOwner()->getOpOperands(), [&](OpOperand &other) {
      auto type = dyn_cast<RankedTensorType>(other.get().getType());
      return &other == &use || (type && type.hasStaticShape() && type.getNumElements() == 1 &&
                                type.getRank() <= input.getRank());
    });
  }

  static void computeFirst(ExpandOp expand, OpOperand &use, PatternRewriter &rewriter) {
    Operation *user = use.getOwner();
    rewriter.setInsertionPoint(user);
    Operation *small = rewriter.clone(*user);
    small->setOperand(use.getOperandNumber(), expand.getInput());
    small->getResult(0).setType(typeOf(expand.getInput()).clone(typeOf(user->getResult(0)).getElementType()));
    rewriter.replaceOpWithNewOp<ExpandOp>(user, user->getResult(0).getType(), small->getResult(0), expand.getShape());
  }
};

} // namespace

void ExpandOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldExpand>(context);
}

} // namespace dlc::dl
