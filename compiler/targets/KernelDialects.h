// The dialects that every target's path from linalg on tensors to loops speaks.

#ifndef DLC_COMPILER_TARGETS_KERNELDIALECTS_H
#define DLC_COMPILER_TARGETS_KERNELDIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace dlc {

/// With the interfaces for tiling and bufferization.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace dlc

#endif // DLC_COMPILER_TARGETS_KERNELDIALECTS_H
