// Home of the generated interface definitions.

#include "dialects/dl/Dl.h"

#include "dialects/dl/DlInterfaces.cpp.inc"

dlc::dl::FusionRole dlc::dl::defaultFusionRole(mlir::Operation *op) {
  return mlir::isa<Elementwise>(op) ? FusionRole::Elementwise
                                    : FusionRole::Opaque;
}

bool dlc::dl::hasRankOfResult(mlir::Operation *op, unsigned operand) {
  auto rank = [](mlir::Value v) {
    return mlir::cast<mlir::RankedTensorType>(v.getType()).getRank();
  };
  return rank(op->getOperand(operand)) == rank(op->getResult(0));
}

bool dlc::dl::movesChannelsLast(llvm::ArrayRef<int64_t> perm) {
  int64_t rank = perm.size();
  bool isToLast = perm[rank - 1] == 1;
  for (int64_t axis = 1; axis + 1 < rank; ++axis)
    isToLast &= perm[axis] == axis + 1;
  return isToLast;
}
