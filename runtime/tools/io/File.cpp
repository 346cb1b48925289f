#include "runtime/tools/io/File.h"

#include "runtime/tools/io/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::cli {

struct FileSource::Open {
  int descriptor;
  uint64_t sizeBytes;
};

namespace {

/// A plain file's descriptor and length.
std::pair<int, uint64_t> openPlainFile(const std::string &path) {
  // Without O_NONBLOCK a named pipe would hang here before it can be refused.
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    fail(DLC_USAGE, path, ": cannot open: ", std::strerror(errno));
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    fail(DLC_USAGE, path, ": not a plain file");
  }
  return {descriptor, static_cast<uint64_t>(info.st_size)};
}

void writeAll(int descriptor, std::string_view bytes, const std::string &path) {
  while (!bytes.empty()) {
    ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail(DLC_USAGE, path, ": cannot write: ", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

} // namespace

void ByteSource::read(void *data, size_t size) {
  if (size > remaining())
    fail(DLC_USAGE, name, ": truncated: ", size, " more bytes are due, ", remaining(),
         " are there");
  auto *bytes = static_cast<uint8_t *>(data);
  for (size_t done = 0; done < size;) {
    size_t count = readSome(bytes + done, size - done);
    if (count == 0)
      fail(DLC_USAGE, name, ": truncated: ends after ", position + done, " of ",
           sizeBytes, " bytes");
    done += count;
  }
  position += size;
}

FileSource::FileSource(const std::string &path)
    : FileSource(path, [&] {
        auto [descriptor, size] = openPlainFile(path);
        return Open{descriptor, size};
      }()) {}

FileSource::FileSource(const std::string &path, const Open &open)
    : ByteSource(path, open.sizeBytes), descriptor(open.descriptor) {}

FileSource::~FileSource() { close(descriptor); }

size_t FileSource::readSome(void *data, size_t size) {
  ssize_t count;
  do
    count = ::read(descriptor, data, size);
  while (count < 0 && errno == EINTR);
  if (count < 0)
    fail(DLC_USAGE, name, ": cannot read: ", std::strerror(errno));
  return static_cast<size_t>(count);
}

size_t SpanSource::readSome(void *data, size_t size) {
  size_t count = std::min(size, bytes.size());
  std::memcpy(data, bytes.data(), count);
  bytes = bytes.subspan(count);
  return count;
}

MappedFile::MappedFile(const std::string &path) {
  auto [descriptor, sizeBytes] = openPlainFile(path);
  size = sizeBytes;
  void *mapped = MAP_FAILED;
  if (size != 0)
    mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int error = errno;
  close(descriptor);
  if (size == 0)
    fail(DLC_USAGE, path, ": the file is empty");
  if (mapped == MAP_FAILED)
    fail(DLC_OUT_OF_MEMORY, path, ": cannot map: ", std::strerror(error));
  data = static_cast<const uint8_t *>(mapped);
}

MappedFile::~MappedFile() { munmap(const_cast<uint8_t *>(data), size); }

void writeFile(const std::string &path, std::span<const std::string_view> parts) {
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    fail(DLC_USAGE, path, ": cannot write: ", std::strerror(errno));
  try {
    for (std::string_view part : parts)
      writeAll(descriptor, part, path);
    // The bytes are on the disk before the name is theirs.
    if (fsync(descriptor) != 0)
      fail(DLC_USAGE, path, ": cannot write: ", std::strerror(errno));
  } catch (const Error &) {
    close(descriptor);
    unlink(temporary.c_str());
    throw;
  }
  if (close(descriptor) != 0 || rename(temporary.c_str(), path.c_str()) != 0) {
    int error = errno;
    unlink(temporary.c_str());
    fail(DLC_USAGE, path, ": cannot write: ", std::strerror(error));
  }
}

bool hasExtension(const std::string &path, const char *extension) {
  size_t length = std::strlen(extension);
  return path.size() > length &&
         strcasecmp(path.c_str() + path.size() - length, extension) == 0;
}

} // namespace dlc::cli
