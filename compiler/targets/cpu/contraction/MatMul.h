// Products of two computed matrices, in batches: the right side is packed into
// panels as the kernel runs. Contraction.h is for right sides packed before.
//
//   out[b.., m, n] = epilogue( sum(k) lhs[b.., m, k] * rhs[b.., k, n] )

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_MATMUL_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_MATMUL_H

#include "compiler/targets/cpu/contraction/Contraction.h"

namespace dlc::cpu {

/// A stack of matrices in a buffer; strides count elements, and are expressions
/// over the kernel's `dims` as all sizes are. 0: broadcast along that axis.
struct MatrixAccess {
  unsigned buffer = 0;
  llvm::SmallVector<mlir::AffineExpr> batchStrides;
  mlir::AffineExpr rowStride, columnStride;
};

struct MatMulKernel {
  std::string name;
  llvm::SmallVector<mlir::AffineExpr> batch;
  mlir::AffineExpr rows, columns, inner;
  /// Of either side, one stride is 1. The result is dense.
  MatrixAccess lhs, rhs;
  unsigned outputBuffer = 2, numBuffers = 3, numDims = 0;
  /// Indexed like the result; the column stride is 0 or 1.
  llvm::SmallVector<MatrixAccess> epilogueOperands;
  /// (accumulator, operands...) -> element, all f32 scalars. Null: identity.
  mlir::func::FuncOp epilogue;
};

/// Emits `<name>` and `<name>_work` (KernelAbi.h) at the builder's position.
void emitMatMul(mlir::OpBuilder &b, const MatMulKernel &kernel, const VectorIsa &isa);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_MATMUL_H
