// From plans, machine code and constants to the bytes of an artifact.

#ifndef DLC_COMPILER_ARTIFACT_WRITER_H
#define DLC_COMPILER_ARTIFACT_WRITER_H

#include "compiler/DeviceProgram.h"
#include "dialects/plan/Plan.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dlc {

/// Machine code for one target.
struct TargetCode {
  std::string target, cpu;
  std::vector<std::string> features;
  llvm::SmallVector<char, 0> image;
};

/// Everything that the targets made.
struct CompiledCode {
  std::vector<TargetCode> codes;
  std::vector<DeviceProgram> devices;
};

/// A weight of the original model, for `dlc inspect --extract`.
struct NamedWeight {
  std::string name;
  mlir::ElementsAttr value;
};

struct ArtifactSummary {
  int64_t fileBytes = 0, constantBytes = 0, codeBytes = 0;
};

/// Writes the artifact; the first program is what runs by default. The bytes depend on the arguments alone.
mlir::FailureOr<ArtifactSummary>
writeArtifact(llvm::ArrayRef<plan::ProgramOp> programs, const CompiledCode &compiled,
              llvm::ArrayRef<NamedWeight> weights, llvm::raw_ostream &os);

} // namespace dlc

#endif // DLC_COMPILER_ARTIFACT_WRITER_H
