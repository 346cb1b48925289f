// What the compiler can make code for. One interface: adding a target adds a folder
// under targets/ and a line in Target.cpp.

#ifndef DLC_COMPILER_TARGET_H
#define DLC_COMPILER_TARGET_H

#include "compiler/Compile.h"
#include "compiler/KernelSources.h"
#include "compiler/artifact/Writer.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace dlc {

class Target {
public:
  virtual ~Target() = default;

  /// True when the target compiles linalg text; then every source carries it.
  virtual bool needsLinalg() const { return false; }
  /// Compiles every kernel and appends the result. Errors name the kernel.
  virtual llvm::Error compile(const KernelSources &sources, CompiledCode &code) = 0;
};

/// The targets of `--target`: "cpu", "cuda:sm_80", several with commas between them.
/// Fails on a name that is not built in and where a compiler is not to be had.
llvm::Expected<std::vector<std::unique_ptr<Target>>> makeTargets(const CompileOptions &options);

std::unique_ptr<Target> makeCpuTarget(const CompileOptions &options);
/// `architectures`: "sm_80" for machine code and PTX, "compute_80" for PTX alone,
/// "source" for neither: compiled where it is loaded.
llvm::Expected<std::unique_ptr<Target>>
makeCudaTarget(std::vector<std::string> architectures, const CompileOptions &options);

} // namespace dlc

#endif // DLC_COMPILER_TARGET_H
