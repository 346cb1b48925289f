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
