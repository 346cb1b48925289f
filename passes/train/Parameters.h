// Which weights of a model are trained, and their way from constants to states.

#ifndef DLC_PASSES_TRAIN_PARAMETERS_H
#define DLC_PASSES_TRAIN_PARAMETERS_H

#include "passes/train/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/MapVector.h"

namespace dlc {

/// On a dl.constant: the weight of the model that it is.
inline constexpr llvm::StringLiteral kWeightAttr = "dl.weight";

struct WeightState {
  llvm::StringRef role;
  mlir::ElementsAttr initial;
};
using WeightStates = llvm::MapVector<mlir::StringAttr, WeightState>;

/// The states that a model's weights become, in the model's order. Parameters are float
/// weights on which `output` depends by way of floats, and whose constant has no role of
/// its own; statistics are those that a result of `main` updates.
WeightStates chooseStates(mlir::func::FuncOp main, mlir::Value output,
                          const TrainingOptions &options);

/// Makes arguments of the constants that are among `states`.
void weightsToStates(mlir::func::FuncOp function, const WeightStates &states);

/// What is no glob matches itself.
bool matchesGlob(llvm::StringRef name, llvm::StringRef text);

} // namespace dlc

#endif // DLC_PASSES_TRAIN_PARAMETERS_H
