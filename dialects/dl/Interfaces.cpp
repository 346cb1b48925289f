// Home of the generated interface definitions.

#include "dialects/dl/Dl.h"

#include "dialects/dl/DlInterfaces.cpp.inc"

dlc::dl::FusionRole dlc::dl::defaultFusionRole(mlir::Operation *op) {
  return mlir::isa<Elementwise>(op) ? FusionRole::Elementwise
                                    : FusionRole::Opaque;
}
