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

/// The loop whose consecutive iterations touch consecutive memory in the most
/// operands; the output counts double.
std::optional<unsigned> contiguousLoop(linalg::GenericOp op) {
  SmallVector<int> score(op.getNumLoops(), 0);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (map.getNumResults() == 0)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
      score[dim.getPosition()] += op.isDpsInit(&operand) ? 2 : 1;
  }
  // A loop of one iteration makes nothing contiguous.
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int best = 0;
  std::optional<unsigned> result;
  for (auto [loop, points] : llvm::enumerate(score))
    if (points >= best && points > 0 && sizes[loop] != 1) {
      best = points;
      result = loop;
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
