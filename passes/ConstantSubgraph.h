// The part of a function that depends on constants alone, cut out so that it
// can be compiled and run once, at compile time.

#ifndef DLC_PASSES_CONSTANTSUBGRAPH_H
#define DLC_PASSES_CONSTANTSUBGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

struct ConstantSubgraph {
  /// No arguments; returns the constants that the rest of the program reads.
  /// Detached; the caller owns it. Null when there is nothing to fold.
  mlir::func::FuncOp function;
  /// The values of the original function that the results replace.
  llvm::SmallVector<mlir::Value> replaces;
};

/// Results that are both larger than this and an eighth larger than the constants they
/// come from stay in the program: a tiny model must not become a huge artifact.
inline constexpr int64_t kMaxFoldedGrowthBytes = int64_t(16) << 20;

ConstantSubgraph extractConstantSubgraph(mlir::func::FuncOp function);

} // namespace dlc

#endif // DLC_PASSES_CONSTANTSUBGRAPH_H
