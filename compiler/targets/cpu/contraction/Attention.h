// Attention without its scores in memory: blocks of keys pass by tiles of query
// rows, and each row keeps the largest score, the sum of the exponentials and
// the weighted sum of the values so far. dl.attention says what is computed.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_ATTENTION_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_ATTENTION_H

#include "compiler/targets/cpu/contraction/MatMul.h"

namespace dlc::cpu {

struct AttentionKernel {
  std::string name;
  mlir::AffineExpr batch, heads, rows, keys;
  int64_t headsPerKey = 1, headSize = 1, valueSize = 1;
  /// Batch strides are those of the batch and of the (key's) head; rows are
  /// contiguous. The result is dense.
  MatrixAccess query, key, value;
  /// Over the scores; the column stride is 0 or 1. The mask holds bytes.
  std::optional<MatrixAccess> mask, bias;
  double scale = 1, softcap = 0, maskedValue = 0;
  bool isCausal = false, zeroesEmptyRows = false;
  unsigned outputBuffer = 3, numBuffers = 4, numDims = 0;
};

/// Emits `<name>` and `<name>_work` (KernelAbi.h) at the builder's position.
void emitAttention(mlir::OpBuilder &b, const AttentionKernel &kernel, const VectorIsa &isa);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_ATTENTION_H
