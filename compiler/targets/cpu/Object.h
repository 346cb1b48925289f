// From the LLVM dialect to bytes.

#ifndef DLC_COMPILER_TARGETS_CPU_OBJECT_H
#define DLC_COMPILER_TARGETS_CPU_OBJECT_H

#include "compiler/targets/cpu/CpuTarget.h"

namespace dlc::cpu {

/// On an LLVM function: no iteration of its loops depends on another.
inline constexpr llvm::StringLiteral kParallelLoopsAttr = "dlc-parallel-loops";

/// How much LLVM does: contractions are already scheduled by the generator.
enum class Optimization { Light, Vectorise };

/// An ELF object for one module in the LLVM dialect.
llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(mlir::ModuleOp module, const CpuInfo &cpu, Optimization level);

/// Links objects into one shared object, in process.
llvm::Expected<llvm::SmallVector<char, 0>>
linkObjects(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_OBJECT_H
