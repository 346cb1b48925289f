// Fusion and loop order of linalg ops inside one kernel.

#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// The loop whose consecutive iterations jump in memory in the fewest operands
/// (a store that jumps counts double), and among those walk it in the most.
std::optional<unsigned> contiguousLoop(linalg::GenericOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  std::optional<unsigned> result;
  std::pair<int, int> best;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    // A loop of one iteration makes nothing contiguous.
    if (sizes[loop] == 1)
      continue;
    int jumps = 0, walks = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      int weight = op.isDpsInit(&operand) ? 2 : 1;
      if (!map.isFunctionOfDim(loop))
        continue;
      bool isLast = map.getResults().back() == getAffineDimExpr(loop, op.getContext());
      (isLast ? walks : jumps) += weight;
    }
    std::pair<int, int> quality = {-jumps, walks};
    if (walks > 0 && (!result || quality >= best)) {
      best = quality;
      result = loop;
    }
  }
  return result;
}

void orderLoops(func::FuncOp kernel) {
  SmallVector<linalg::GenericOp> ops;
  kernel.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  IRRewriter rewriter(kernel.getContext());
  for (linalg::GenericOp op : ops) {
    auto inner = contiguousLoop(op);
    if (!inner || *inner + 1 == op.getNumLoops() || op.hasIndexSemantics())
      continue;
    SmallVector<unsigned> order;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (loop != *inner)
        order.push_back(loop);
    order.push_back(*inner);
    rewriter.setInsertionPoint(op);
    (void)linalg::interchangeGenericOp(rewriter, op, order);
  }
}

/// Sums may be reordered: which order a reduction uses is ours to define, and
/// it is fixed by the compiled code.
void allowReordering(func::FuncOp kernel) {
  kernel.walk([](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    for (Operation &inner : op.getBody()->without_terminator()) {
      bool usesOutput = llvm::any_of(inner.getOperands(), [&](Value v) {
        auto arg = dyn_cast<BlockArgument>(v);
        return arg && arg.getOwner() == op.getBody() &&
               arg.getArgNumber() >= op.getNumDpsInputs();
      });
      if (usesOutput && isa<arith::AddFOp, arith::MulFOp>(inner))
        inner.setAttr("fastmath", arith::FastMathFlagsAttr::get(
                                      op.getContext(), arith::FastMathFlags::reassoc));
    }
  });
}

} // namespace

LogicalResult simplifyLinalg(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  // Only elementwise consumers: recomputing a producer once per element of a
  // reduction or a broadcast would multiply its work.
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
    Operation *producer = operand->get().getDefiningOp();
    auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
    if (!producer || !consumer || !producer->hasOneUse())
      return false;
    AffineMap map = consumer.getMatchingIndexingMap(operand);
    return map.isPermutation() || map.getNumDims() == map.getNumResults();
  });
  linalg::populateInlineConstantOperandsPatterns(patterns);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
    return failure();
  orderLoops(kernel);
  allowReordering(kernel);
  return success();
}

} // namespace dlc::cpu
