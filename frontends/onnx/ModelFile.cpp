#include "frontends/onnx/ModelFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace dlc::onnx {

namespace {

/// Protobuf's own limit; a larger model keeps its weights in external data.
constexpr uint64_t kLargestModel = uint64_t(2) << 30;

/// Why these bytes are certainly no model; empty when they may be one.
std::string notAModel(StringRef bytes) {
  if (bytes.empty())
    return "the file is empty";
  if (bytes.starts_with("version https://git-lfs"))
    return "the file is a Git LFS pointer, not the model; fetch it with `git lfs pull`";
  if (bytes.starts_with("<!DOCTYPE") || bytes.starts_with("<html"))
    return "not an ONNX model: the file is a web page";
  if (bytes.starts_with("PK\x03\x04"))
    return "not an ONNX model: the file is a zip archive (a PyTorch checkpoint?)";
  if (bytes.size() > kLargestModel)
    return "the file has " + std::to_string(bytes.size()) +
           " bytes; a model may have 2 GiB, larger ones keep weights in external data";
  return "";
}

} // namespace

MappedFiles::~MappedFiles() {
  for (auto &entry : mapped)
    if (!entry.second.empty())
      ::munmap(const_cast<char *>(entry.second.data()), entry.second.size());
}

std::optional<StringRef> MappedFiles::map(StringRef path, std::string &problem) {
  if (auto it = mapped.find(path); it != mapped.end())
    return it->second;
  std::string name = path.str();
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    problem = "cannot be read: " + std::string(std::strerror(errno));
    if (fd >= 0)
      ::close(fd);
    return std::nullopt;
  }
  StringRef bytes;
  if (!S_ISREG(status.st_mode)) {
    problem = S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file";
  } else if (status.st_size > 0) {
    void *memory = ::mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
      problem = "cannot be mapped: " + std::string(std::strerror(errno));
    else
      bytes = StringRef(static_cast<char *>(memory), status.st_size);
  }
  ::close(fd);
  if (!problem.empty())
    return std::nullopt;
  return mapped[path] = bytes;
}

std::optional<StringRef> MappedFiles::openModel(StringRef path, IssueList &issues) {
  std::string problem;
  auto bytes = map(path, problem);
  if (!bytes) {
    issues.error("", "the model " + problem);
    return std::nullopt;
  }
  problem = notAModel(*bytes);
  if (!problem.empty()) {
    issues.error("", problem);
    return std::nullopt;
  }
  SmallString<256> resolved;
  if (sys::fs::real_path(path, resolved)) {
    issues.error("", "the path of the model cannot be resolved");
    return std::nullopt;
  }
  folder = sys::path::parent_path(resolved).str();
  return bytes;
}

std::optional<StringRef> MappedFiles::openExternal(StringRef location,
                                                   std::string &problem) {
  if (location.empty() || location.contains('\0')) {
    problem = "gives no file name";
    return std::nullopt;
  }
  if (sys::path::is_absolute(location)) {
    problem = "is an absolute path; it must lie in the model's folder";
    return std::nullopt;
  }
  SmallString<256> path(folder), resolved;
  sys::path::append(path, location);
  if (std::error_code error = sys::fs::real_path(path, resolved)) {
    problem = "cannot be read: " + error.message();
    return std::nullopt;
  }
  std::string prefix = StringRef(folder).ends_with("/") ? folder : folder + "/";
  if (!resolved.str().starts_with(prefix)) {
    problem = "leaves the model's folder";
    return std::nullopt;
  }
  return map(resolved, problem);
}

} // namespace dlc::onnx
