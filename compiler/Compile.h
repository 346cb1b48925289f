// The compiler as the command line sees it: options in, an exit code and
// messages out. No LLVM types, so that argument parsing needs no LLVM headers.

#ifndef DLC_COMPILER_COMPILE_H
#define DLC_COMPILER_COMPILE_H

#include "passes/train/Options.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dlc {

struct CompileOptions {
  std::string input;          // .onnx, or .mlir in dl
  std::string output;         // .dlc; empty: beside the input
  std::string target = "cpu";
  std::string cpu = "native"; // "x86-64-v3", "znver4", ...
  std::map<std::string, std::pair<int64_t, int64_t>> dims; // symbol -> bounds
  std::map<std::string, std::vector<int64_t>> shapes; // of inputs; "": of the only one
  std::string stopAfter;      // a phase; prints the IR instead of an artifact
  std::string dumpDir;        // IR after each phase, kernels, objects
  bool printIrAfterAll = false;
  bool verbose = false;
  bool json = false;
  bool layout = true;         // choose channels-last where it pays
  bool fuse = true;
  double budgetSeconds = 0;   // 0: none
  int64_t budgetMegabytes = 0;
  unsigned threads = 0;       // 0: one per core
  std::string cacheDir;       // of compiled CUDA kernels; empty: nothing is kept
  TrainingOptions training;
};

/// Exit codes, as documented for every command.
enum ExitCode : int {
  kExitOk = 0, kExitInternal = 1, kExitUsage = 2, kExitUnsupported = 3,
  kExitMismatch = 4, kExitOutOfMemory = 5, kExitDevice = 6
};

/// `dlc compile`.
int compileModel(const CompileOptions &options);
/// `dlc check`: lists every problem of a model at once.
int checkModel(const CompileOptions &options);

} // namespace dlc

#endif // DLC_COMPILER_COMPILE_H
