// In-process linking by lld: about a millisecond, no tool needed on the machine.

#include "compiler/targets/cpu/Object.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace dlc::cpu {

namespace {

/// A file in memory that lld can open by path.
class MemoryFile {
public:
  MemoryFile() : fd(memfd_create("dlc", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { close(fd); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  bool write(ArrayRef<char> bytes) {
    return fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size());
  }

private:
  int fd;
};

} // namespace

Expected<SmallVector<char, 0>> linkObjects(ArrayRef<SmallVector<char, 0>> objects) {
  static std::mutex oneAtATime; // lld keeps global state.
  std::lock_guard<std::mutex> lock(oneAtATime);
  std::vector<std::unique_ptr<MemoryFile>> files;
  std::vector<std::string> args = {"ld.lld", "-shared", "--hash-style=gnu", "-z",
                                   "noseparate-code", "--build-id=none", "-s",
                                   "--gc-sections", "--threads=1", "-o"};
  // lld replaces its output by renaming, so it needs a real path.
  SmallString<128> output;
  if (std::error_code error = sys::fs::createTemporaryFile("dlc", "so", output))
    return createStringError("linking the kernels: no temporary file: " + error.message());
  args.push_back(std::string(output));
  for (const auto &object : objects) {
    files.push_back(std::make_unique<MemoryFile>());
    if (!files.back()->write(object))
      return createStringError("out of memory while linking");
    args.push_back(files.back()->path());
  }
  std::vector<const char *> argv;
  for (const std::string &arg : args)
    argv.push_back(arg.c_str());
  std::string messages, ignored;
  raw_string_ostream errors(messages), out(ignored);
  lld::Result result = lld::lldMain(argv, out, errors, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("linking the kernels failed: " + messages);
  auto buffer = MemoryBuffer::getFile(output, false, false);
  sys::fs::remove(output);
  if (!buffer)
    return createStringError("linking the kernels failed: no output");
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

} // namespace dlc::cpu
