// The general path: any linalg function becomes loops on raw pointers.

#ifndef DLC_COMPILER_TARGETS_CPU_GENERAL_GENERAL_H
#define DLC_COMPILER_TARGETS_CPU_GENERAL_GENERAL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace dlc::cpu {

/// Marks the loop whose iterations are the kernel's units of work.
inline constexpr llvm::StringLiteral kWorkAttr = "dlc.work";
/// On the kernel function: a map from its sizes to the number of units.
inline constexpr llvm::StringLiteral kWorkCountAttr = "dlc.work_count";

/// Folds elementwise ops into each other and orders loops for contiguous access.
llvm::LogicalResult simplifyLinalg(mlir::func::FuncOp kernel);

/// Tiles the op that makes the results over its parallel loops into an
/// scf.forall, with its producers fused. Leaves the kernel alone (one unit of
/// work) when that is not possible.
void tileForWork(mlir::func::FuncOp kernel);

/// Gives the function its ABI: `<name>`, `<name>_work` and a body on memrefs.
/// Returns the body.
mlir::func::FuncOp wrapInAbi(mlir::ModuleOp module, mlir::func::FuncOp kernel,
                             llvm::StringRef name);

/// Bufferizes the body; results go straight into the output buffers.
llvm::LogicalResult bufferizeBody(mlir::func::FuncOp body);

/// Restricts the work loop to [begin, end). False when something outside the
/// loop writes memory, so that units would repeat it.
bool restrictWork(mlir::func::FuncOp body);

/// Moves temporaries out of loops, after restrictWork.
void reuseBuffers(mlir::func::FuncOp body);

/// linalg to loops, math to arithmetic and libm calls, allocations to scratch,
/// everything to the LLVM dialect.
llvm::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

/// e^x and the other functions that are computed by polynomials.
void populateMathExpansion(mlir::RewritePatternSet &patterns);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_GENERAL_GENERAL_H
