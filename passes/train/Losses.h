// Loss functions in dl ops.

#ifndef DLC_PASSES_TRAIN_LOSSES_H
#define DLC_PASSES_TRAIN_LOSSES_H

#include "passes/train/Emitter.h"
#include "passes/train/Options.h"

namespace dlc {

/// A mean, kept as sum and count (rank-0 tensors), so that means over several batches
/// can be joined into the mean over all.
struct LossValue {
  mlir::Value sum, count;
};

/// What the targets of an output of this type must be. `axes` are the axes of the output
/// whose sizes the target's axes have.
struct TargetInfo {
  mlir::Type element;
  llvm::SmallVector<int64_t> axes;
};
mlir::FailureOr<TargetInfo> targetFor(mlir::Value output, const LossOptions &options);

/// Null values when the operands do not fit, with the problem reported.
LossValue emitLoss(Emitter &e, mlir::Value output, mlir::Value target, const LossOptions &options);

} // namespace dlc

#endif // DLC_PASSES_TRAIN_LOSSES_H
