// Writes what ShapeAnalysis proves into the IR.

#include "passes/Counts.h"
#include "passes/Passes.h"
#include "passes/ShapeAnalysis.h"

#include "dialects/dl/ops/Constant.h"

namespace dlc {
#define GEN_PASS_DEF_INFERSHAPES
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

/// The tensor as a constant, when all its elements are known.
DenseElementsAttr knownValue(const dl::TensorInfo &info) {
  RankedTensorType type = dl::toTensorType(info);
  if (!info.contents || !type.hasStaticShape())
    return {};
  SmallVector<APInt> elements;
  unsigned width = type.getElementTypeBitWidth();
  for (AffineExpr expr : *info.contents) {
    auto value = expr ? dl::constantSize(expr) : std::nullopt;
    if (!value)
      return {};
    elements.emplace_back(width, uint64_t(*value), true, true);
  }
  return DenseElementsAttr::get(type, elements);
}

struct InferShapes : dlc::impl::InferShapesBase<InferShapes> {
  void runOnOperation() override {
    numRefined = numFolded = 0;
    func::FuncOp function = getOperation();
    auto analysis = ShapeAnalysis::run(function);
    if (!analysis)
      return signalPassFailure();
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<dl::InferType>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      for (OpResult result : op->getResults())
        refine(result, analysis->lookup(result));
    reportCounts(*this, function, {{"refined", numRefined}, {"folded", numFolded}});
    Operation *terminator = function.getBody().front().getTerminator();
    function.setType(FunctionType::get(&getContext(),
                                       function.getArgumentTypes(),
                                       terminator->getOperandTypes()));
  }

  void refine(OpResult result, const dl::TensorInfo &info) {
    RankedTensorType type = dl::toTensorType(info);
    if (type != result.getType()) {
      result.setType(type);
      ++numRefined;
    }
    Operation *op = result.getOwner();
    if (op->hasTrait<OpTrait::ConstantLike>() || result.use_empty())
      return;
    if (DenseElementsAttr value = knownValue(info)) {
      OpBuilder b(op);
      result.replaceAllUsesWith(
          dl::ConstantOp::create(b, op->getLoc(), type, value));
      ++numFolded;
    }
  }

  int64_t numRefined = 0, numFolded = 0;
};

} // namespace
