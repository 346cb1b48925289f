// Recognises kernels that the CPU target's contraction generator computes.

#ifndef DLC_COMPILER_CONTRACTIONSOURCE_H
#define DLC_COMPILER_CONTRACTIONSOURCE_H

#include "compiler/targets/cpu/CpuTarget.h"

#include "dialects/dl/ops/Structure.h"
#include "passes/ShapeAnalysis.h"

#include <optional>

namespace dlc {

struct ContractionSource {
  std::string key; // equal keys: equal kernels
  std::function<void(mlir::OpBuilder &, const cpu::CpuInfo &)> emit;
  llvm::SmallVector<mlir::AffineExpr> sizes; // the kernel's size arguments
};

/// A product of two computed matrices; none for other kernels.
std::optional<ContractionSource> toMatMul(dl::KernelOp kernel, ShapeAnalysis &shapes,
                                          const std::string &name);

/// A dl.attention that has a kernel; none for other kernels.
std::optional<ContractionSource> toAttention(dl::KernelOp kernel, ShapeAnalysis &shapes,
                                             const std::string &name);

/// A packed contraction with an elementwise epilogue over f32; none otherwise.
std::optional<ContractionSource> toContraction(dl::KernelOp kernel,
                                               ShapeAnalysis &shapes,
                                               const std::string &name);

} // namespace dlc

#endif // DLC_COMPILER_CONTRACTIONSOURCE_H
