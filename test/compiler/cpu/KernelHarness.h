// Compiles one kernel, loads it and calls it as the runtime would, so that
// tests see machine code and not IR.

#ifndef DLC_TEST_COMPILER_CPU_KERNELHARNESS_H
#define DLC_TEST_COMPILER_CPU_KERNELHARNESS_H

#include "compiler/targets/cpu/CpuTarget.h"

#include "runtime/schema/KernelAbi.h"

#include <string>
#include <vector>

namespace dlc::test {

/// Cpus that every test of numbers runs for: those this machine can run.
std::vector<std::string> runnableCpus();
/// A cpu's name as GoogleTest allows it.
std::string testNameOf(std::string cpu);

/// An epilogue (accumulator, first, second) -> what `body` makes of them.
mlir::func::FuncOp makeEpilogue(mlir::OpBuilder &b,
                                llvm::function_ref<mlir::Value(mlir::Location, mlir::ValueRange)> body);

class CompiledKernel {
public:
  /// Throws nothing: `error` says what went wrong.
  CompiledKernel(const cpu::KernelJob &job, const std::string &cpuName);
  CompiledKernel(const CompiledKernel &) = delete;
  ~CompiledKernel();

  int64_t work(const std::vector<int64_t> &dims) const { return workFn(dims.data()); }

  /// Runs the units in chunks of `unitsPerCall` (0: all at once), from the
  /// last chunk to the first when `backwards`.
  int32_t run(const std::vector<void *> &buffers, const std::vector<int64_t> &dims,
              int64_t unitsPerCall = 0, bool backwards = false) const;

  std::string error;
  /// What the last run took from scratch, over all its calls.
  mutable int64_t scratchBytes = 0;

private:
  void *handle = nullptr;
  DlcKernelFn function = nullptr;
  DlcKernelWorkFn workFn = nullptr;
};

} // namespace dlc::test

#endif // DLC_TEST_COMPILER_CPU_KERNELHARNESS_H
