// The CPU target: kernels in, one shared object with machine code out.

#ifndef DLC_COMPILER_TARGETS_CPU_CPUTARGET_H
#define DLC_COMPILER_TARGETS_CPU_CPUTARGET_H

#include "compiler/targets/cpu/contraction/Contraction.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::cpu {

struct CpuOptions {
  std::string cpu = "native"; // or "x86-64-v3", "znver4", ...
  unsigned threads = 0;       // 0: one per core
};

/// What code for one cpu assumes.
struct CpuInfo {
  std::string name;                  // as LLVM spells it
  std::vector<std::string> features; // that a machine must have, as in /proc/cpuinfo
  VectorIsa isa;
  unsigned vectorBits;
};

/// Fails, with the reason, on a name that LLVM does not know.
llvm::Expected<CpuInfo> resolveCpu(llvm::StringRef name);

/// On arguments and results of a linalg function that may be one buffer.
inline constexpr llvm::StringLiteral kSharedAttr = "dl.shared";

/// One kernel to compile: either a linalg function, or a contraction.
struct KernelJob {
  std::string name;
  /// A `func.func` of linalg ops on tensors, see passes/KernelLowering.h.
  std::string linalgIr;
  /// Emits a contraction into a module instead; called on a worker's context.
  std::function<void(mlir::OpBuilder &, const CpuInfo &)> emit;
};

/// An ELF shared object that exports every kernel.
struct CodeImage {
  llvm::SmallVector<char, 0> bytes;
  CpuInfo cpu;
};

/// Compiles on `options.threads` threads; the image does not depend on their
/// number. Errors name the kernel.
llvm::Expected<CodeImage> compileKernels(llvm::ArrayRef<KernelJob> jobs,
                                         const CpuOptions &options);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CPUTARGET_H
