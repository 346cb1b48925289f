// A kernel on its way to CUDA C++: the function that is printed, and what the
// printer leaves for the artifact.

#ifndef DLC_COMPILER_TARGETS_CUDA_KERNEL_H
#define DLC_COMPILER_TARGETS_CUDA_KERNEL_H

#include "compiler/DeviceProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc::cuda {

/// The dialects that kernel sources are parsed and lowered in.
mlir::DialectRegistry &kernelRegistry();

/// From a linalg function on tensors (passes/KernelLowering.h) to a function on
/// memrefs with linalg.generic, loops and scalar code. Arguments: inputs, sizes,
/// outputs; memref arguments carry `dl.dims`. Null after a diagnostic.
mlir::func::FuncOp lowerToBuffers(mlir::ModuleOp module, llvm::StringRef name);

/// Makes views of padding that is only read.
void foldPadding(mlir::func::FuncOp function);

/// Makes reductions with few results into two steps, the first with many.
void splitReductions(mlir::func::FuncOp function);

/// Rewrites indexing maps by what the sizes of their loops allow.
void simplifyMaps(mlir::func::FuncOp function);

/// Prints CUDA C++ and describes its launches. Fails after a diagnostic.
mlir::LogicalResult printKernel(mlir::func::FuncOp function, DeviceKernel &kernel);

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_KERNEL_H
