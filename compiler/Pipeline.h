// The compiler's phases, in order, by name.

#ifndef DLC_COMPILER_PIPELINE_H
#define DLC_COMPILER_PIPELINE_H

#include "compiler/Compile.h"
#include "compiler/KernelSources.h"

#include "dialects/plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <chrono>
#include <map>

namespace dlc {

/// What phases leave for later ones and for the summary.
struct CompileState {
  explicit CompileState(const CompileOptions &options) : options(options) {}

  const CompileOptions &options;
  KernelSources sources;
  llvm::SmallVector<plan::ProgramOp> programs; // the first runs by default
  size_t importedNodes = 0, foldedValues = 0;
  std::vector<std::pair<std::string, double>> phaseSeconds;
  /// What passes did to the program: (pass, what) -> how often, over all their runs.
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  bool isCounting = true; // not while constants are computed
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  double elapsedSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  /// True when optional work should be skipped (`--budget-s`, `--budget-mb`).
  bool overBudget() const;
};

struct Phase {
  const char *name;
  mlir::LogicalResult (*run)(mlir::ModuleOp module, CompileState &state);
};

/// From imported dl to a plan.
llvm::ArrayRef<Phase> compilerPhases();

} // namespace dlc

#endif // DLC_COMPILER_PIPELINE_H
