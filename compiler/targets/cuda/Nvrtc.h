// NVRTC through function pointers: building and using dlc needs nothing of CUDA.

#ifndef DLC_COMPILER_TARGETS_CUDA_NVRTC_H
#define DLC_COMPILER_TARGETS_CUDA_NVRTC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace dlc::cuda {

/// One compilation: CUDA C++ in, PTX or machine code out.
struct NvrtcJob {
  std::string name;    // of the source, for messages and line tables
  std::string source;
  std::string headers; // included as "dlc.cuh"
  llvm::ArrayRef<std::string> options;
  std::string architecture; // "compute_80" for PTX alone, "sm_80" for machine code too
};

struct NvrtcResult {
  std::string ptx, cubin; // the latter empty for a virtual architecture
};

class Nvrtc {
public:
  /// Opens the library once for the process; the error says what is missing and
  /// The library, opened once; the error says what is missing and how to get it.
  static llvm::Expected<const Nvrtc *> get();

  /// "nvrtc 13.0"
  std::string version() const;
  /// True when it can make code for this architecture ("sm_90").
  bool supports(int architecture) const;
  /// Errors carry the compiler's log with the lines of the source it speaks of.
  llvm::Expected<NvrtcResult> compile(const NvrtcJob &job) const;

private:
  using Program = struct ProgramHandle *;
  int (*getVersion)(int *, int *) = nullptr;
  int (*getNumArchitectures)(int *) = nullptr;
  int (*getArchitectures)(int *) = nullptr;
  int (*createProgram)(Program *, const char *, const char *, int, const char *const *,
                       const char *const *) = nullptr;
  int (*destroyProgram)(Program *) = nullptr;
  int (*compileProgram)(Program, int, const char *const *) = nullptr;
  int (*getPtxSize)(Program, size_t *) = nullptr;
  int (*getPtx)(Program, char *) = nullptr;
  int (*getCubinSize)(Program, size_t *) = nullptr;
  int (*getCubin)(Program, char *) = nullptr;
  int (*getLogSize)(Program, size_t *) = nullptr;
  int (*getLog)(Program, char *) = nullptr;
  const char *(*getErrorString)(int) = nullptr;

  std::string open();
};

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_NVRTC_H
