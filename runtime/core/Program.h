// A loaded artifact, checked: the programs in it, its constants, its machine code.

#ifndef DLC_RUNTIME_CORE_PROGRAM_H
#define DLC_RUNTIME_CORE_PROGRAM_H

#include "runtime/core/Entry.h"

#include "runtime/schema/KernelAbi.h"

#include <string>
#include <vector>

namespace dlc::rt {

/// A file mapped into memory, or the caller's bytes.
class Mapping {
public:
  ~Mapping();
  Status open(const char *path);
  Status wrap(const void *bytes, size_t size);
  const char *data = nullptr;
  size_t size = 0;

private:
  bool owned = false;
};

struct Kernel {
  std::string name;
  DlcKernelFn run = nullptr;
  DlcKernelWorkFn work = nullptr;
};

/// Everything here was checked against the file: indices are in range, slices
/// inside it, aliases refer to earlier values. Stays where it is: entries refer to it.
class Program {
public:
  ~Program();
  Status load(const char *path, const dlc_load_options &options);
  Status loadMemory(const void *bytes, size_t size, const dlc_load_options &options);
  /// Maps and checks only: enough to look at the table, on any machine.
  Status open(const char *path, const dlc_load_options &options);

  const schema::Artifact &table() const { return *artifact; }
  const Mapping &mapping() const { return file; }
  const void *constantData(uint32_t constant) const {
    return file.data + artifact->constants()->Get(constant)->offset();
  }
  /// The first is the artifact's own program.
  const std::vector<Entry> &entries() const { return entryList; }

  std::string name; // the file, for messages
  std::vector<Kernel> kernels;
  int64_t constantBytes = 0, stateBytes = 0;

private:
  Status check(const dlc_load_options &options);
  Status finish(const dlc_load_options &options);
  Status checkHeader(const dlc_load_options &options);
  void flatten();
  Status loadCode();

  Mapping file;
  const schema::Artifact *artifact = nullptr;
  std::vector<Entry> entryList;
  void *library = nullptr;
  /// Stays open as long as the library: the dynamic linker knows libraries by path,
  /// and a second model that got this number would be handed the first one's code.
  int codeFile = -1;
};

/// True for no device and for "cpu".
bool isCpu(const char *device);

/// -1 if that overflows.
int64_t stateSizeBytes(const schema::State &state);

/// Control flow may be nested this deep.
inline constexpr uint32_t kDeepestBlock = 300;

/// Checks every index, offset and enumerator of a verified table.
Status validate(const schema::Artifact &artifact, size_t fileBytes,
                const std::string &file);
/// The tables of devices, after that.
Status validateDevices(const schema::Artifact &artifact, size_t fileBytes,
                       const std::string &file);

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_PROGRAM_H
