// Reverse-mode differentiation of a function of dl ops.

#ifndef DLC_PASSES_TRAIN_BUILDGRADIENTS_H
#define DLC_PASSES_TRAIN_BUILDGRADIENTS_H

#include "mlir/IR/Builders.h"

namespace dlc {

/// Emits d(loss)/d(v) for each v of `wrt` at the insertion point of `b`, which
/// `loss` must dominate; all of it in one block. `wrt` are float tensors:
/// arguments or values between them and the loss. A gradient has exactly the
/// type of its value; it is null where the loss does not depend on the value,
/// or is constant piece by piece.
///
/// `loss` has one element. `seed` (of its type; without one: 1) is what every
/// gradient is scaled by, for instance the loss scale of f16.
///
/// Only ops on a path from `wrt` to the loss are differentiated; one of them
/// without a gradient is an error that names it.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::Value loss, llvm::ArrayRef<mlir::Value> wrt, mlir::OpBuilder &b,
               mlir::Value seed = {});

} // namespace dlc

#endif // DLC_PASSES_TRAIN_BUILDGRADIENTS_H
