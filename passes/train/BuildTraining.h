// From a model to the programs that train it.

#ifndef DLC_PASSES_TRAIN_BUILDTRAINING_H
#define DLC_PASSES_TRAIN_BUILDTRAINING_H

#include "passes/train/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

namespace dlc {

/// Turns the weights of `@main`, the model as it trains, and `@infer`, the same as it
/// infers, into states.
llvm::LogicalResult separateWeights(mlir::ModuleOp module, const TrainingOptions &options);

/// Replaces them, their shapes inferred, by entries over these states: `infer`; `eval`
/// adds the loss; `train_step` is forward, backward and optimizer in one, or in its place
/// `grad_step` and `apply_step`.
llvm::LogicalResult buildTraining(mlir::ModuleOp module, const TrainingOptions &options);

} // namespace dlc

#endif // DLC_PASSES_TRAIN_BUILDTRAINING_H
