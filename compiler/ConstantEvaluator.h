// Folds what depends on constants alone by compiling and running it, once, at
// compile time: there is one definition of every op's value.

#ifndef DLC_COMPILER_CONSTANTEVALUATOR_H
#define DLC_COMPILER_CONSTANTEVALUATOR_H

#include "compiler/targets/cpu/CpuTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

struct FoldStatistics {
  size_t values = 0, kernels = 0;
};

/// Replaces constant subgraphs of `function` by constants.
mlir::FailureOr<FoldStatistics> foldConstants(mlir::func::FuncOp function,
                                              const cpu::CpuOptions &options);

} // namespace dlc

#endif // DLC_COMPILER_CONSTANTEVALUATOR_H
