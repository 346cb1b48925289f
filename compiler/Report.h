// Everything the compiler says to its user: problems, each in one line with
// file, node and reason, and the summary of a compilation.

#ifndef DLC_COMPILER_REPORT_H
#define DLC_COMPILER_REPORT_H

#include "compiler/Compile.h"
#include "compiler/artifact/Writer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc {

struct CompileState;

/// A diagnostic that starts so is about a feature that is missing, not about a
/// broken model: exit code 3 instead of 2.
inline constexpr llvm::StringLiteral kUnsupportedPrefix = "unsupported: ";

/// A diagnostic that starts so ends with exit code 5.
inline constexpr llvm::StringLiteral kOutOfMemoryPrefix = "out of memory";

struct Problem {
  bool isWarning = false;
  ExitCode code = kExitUsage;
  std::string node, message;
};

class Reporter {
public:
  explicit Reporter(const CompileOptions &options) : options(options) {}
  ~Reporter();

  /// Turns the context's diagnostics into problems.
  void listen(mlir::MLIRContext &context);
  void add(Problem problem);
  /// Adds an error, prints what there is, returns the exit code.
  int error(ExitCode code, const std::string &message);
  /// Prints all problems; the code of the worst, or `fallback` if none is known.
  int exitCode(ExitCode fallback);
  /// Ends `dlc check`.
  int finishCheck();
  void summary(const CompileState &state, const ArtifactSummary &artifact,
               const std::string &path);

private:
  void print();
  void summaryJson(const CompileState &state, const ArtifactSummary &artifact,
                   const std::string &path);

  const CompileOptions &options;
  std::vector<Problem> problems;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

/// Names from models, safe to print: shortened, control bytes and broken UTF-8
/// escaped.
std::string printable(llvm::StringRef text, size_t limit = 120);

} // namespace dlc

#endif // DLC_COMPILER_REPORT_H
