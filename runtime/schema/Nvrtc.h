// NVRTC through function pointers, for the compiler and for loading on a device that
// the artifact has no code for. Building and using dlc needs nothing of CUDA.

#ifndef DLC_RUNTIME_SCHEMA_NVRTC_H
#define DLC_RUNTIME_SCHEMA_NVRTC_H

#include <cstddef>
#include <string>
#include <vector>

namespace dlc::schema {

/// One compilation of CUDA C++.
struct NvrtcJob {
  std::string name;    // of the source, for messages and line tables
  std::string source;
  std::string headers; // included as "dlc.cuh"
  std::vector<std::string> options;
  std::string architecture; // "compute_80" for PTX alone, "sm_80" for machine code too
};

struct NvrtcResult {
  std::string ptx, cubin; // the latter empty for a virtual architecture
  std::string log;        // what the assembler says of registers and spills; of cubins
};

class Nvrtc {
public:
  /// The library, opened once for the process; null where `error` says what is missing
  /// and how to get it.
  static const Nvrtc *get(std::string &error);

  /// "nvrtc 13.0"
  std::string version() const;
  /// True when it can make code for this architecture (90 for "sm_90").
  bool supports(int architecture) const;
  /// An error, empty on success: the compiler's log with the lines that it speaks of.
  std::string compile(const NvrtcJob &job, NvrtcResult &result) const;

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

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_NVRTC_H
