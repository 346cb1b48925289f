// Recognises linalg ops that multiply and add: matrix products, convolutions (as
// implicit matrix products), einsums; with any layout of their operands.

#ifndef DLC_COMPILER_TARGETS_CUDA_CONTRACTION_H
#define DLC_COMPILER_TARGETS_CUDA_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace dlc::cuda {

/// result[batch, m, n] += sum over k of a[batch, m, k] * b[batch, k, n], where each
/// letter stands for any number of loops.
struct Contraction {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<unsigned> batch, m, n, k;
  unsigned aInput, bInput;      // which input is walked by m and which by n
  mlir::Value aFactor, bFactor; // the factors in the payload
};

std::optional<Contraction> toContraction(mlir::linalg::GenericOp op);

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_CONTRACTION_H
