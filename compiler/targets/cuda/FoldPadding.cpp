// Padding that only loops over points read becomes a view (kernel.padded): a padded
// convolution then makes no pass over memory of its own for its border, and none of
// memory either.

#include "compiler/targets/cuda/Kernel.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dlc::cuda {

/// Read as a whole, by ops whose every read the printer writes itself.
static bool isOnlyRead(tensor::PadOp pad) {
  return llvm::all_of(pad->getUses(), [](OpOperand &use) {
    auto loops = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return isa<tensor::DimOp>(use.getOwner()) || (loops && loops.isDpsInput(&use));
  });
}

void foldPadding(func::FuncOp function) {
  SmallVector<tensor::PadOp> pads;
  function.walk([&](tensor::PadOp pad) { pads.push_back(pad); });
  for (tensor::PadOp pad : pads) {
    auto low = getConstantIntValues(pad.getMixedLowPad());
    auto high = getConstantIntValues(pad.getMixedHighPad());
    Value border = pad.getConstantPaddingValue();
    TypedAttr number;
    auto isNegative = [](int64_t p) { return p < 0; };
    if (!low || !high || llvm::any_of(*low, isNegative) || llvm::any_of(*high, isNegative) ||
        !border || !matchPattern(border, m_Constant(&number)) || !isOnlyRead(pad))
      continue;
    OpBuilder b(pad);
    pad.getResult().replaceAllUsesWith(kernel::PaddedOp::create(
        b, pad.getLoc(), pad.getType(), pad.getSource(), *low, *high, number));
    pad.erase();
  }
}

} // namespace dlc::cuda
