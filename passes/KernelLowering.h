// From a group of dl ops to one linalg function, the source of a kernel.

#ifndef DLC_PASSES_KERNELLOWERING_H
#define DLC_PASSES_KERNELLOWERING_H

#include "passes/ShapeAnalysis.h"

namespace dlc {

/// A function of linalg ops on tensors. Arguments: the kernel's operands in
/// storage types, then one index per entry of `sizes`. Every argument and
/// result carries `dl.dims`: an affine map from those indices to its shape.
struct LoweredKernel {
  mlir::func::FuncOp function; // detached; the caller owns it
  llvm::SmallVector<mlir::AffineExpr> sizes; // over the program's symbols
};

/// Lowers `block`, whose arguments are the operands and whose terminator
/// yields the results.
mlir::FailureOr<LoweredKernel> lowerBlock(mlir::Block &block, mlir::Location loc,
                                          ShapeAnalysis &shapes);

/// Lowers a function whose symbols become trailing index arguments.
mlir::FailureOr<mlir::func::FuncOp> lowerFunction(mlir::func::FuncOp function,
                                                  ShapeAnalysis &shapes);

} // namespace dlc

#endif // DLC_PASSES_KERNELLOWERING_H
