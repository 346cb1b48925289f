// A tar archive's members: ustar, with long names by GNU and by pax headers.

#ifndef DLC_RUNTIME_DATA_READERS_TARFILE_H
#define DLC_RUNTIME_DATA_READERS_TARFILE_H

#include "runtime/tools/io/File.h"

#include <memory>

namespace dlc::data {

struct TarMember {
  std::string name;
  uint64_t offset, sizeBytes; // within the file, checked
};

class TarFile {
public:
  explicit TarFile(const std::string &path);

  /// The next plain file; false at the archive's end.
  bool next(TarMember &member);
  std::span<const uint8_t> bytes() const { return file->bytes(); }
  const std::string &name() const { return path; }

private:
  std::string path;
  std::unique_ptr<cli::MappedFile> file;
  uint64_t position = 0;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_READERS_TARFILE_H
