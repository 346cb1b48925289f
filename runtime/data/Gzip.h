// Gzipped files read as a stream of unknown length.

#ifndef DLC_RUNTIME_DATA_GZIP_H
#define DLC_RUNTIME_DATA_GZIP_H

#include "runtime/tools/io/File.h"

#include <memory>

namespace dlc::data {

bool isGzip(std::span<const uint8_t> bytes);

class GzipReader {
public:
  GzipReader(std::string name, std::span<const uint8_t> compressed);
  ~GzipReader();
  GzipReader(const GzipReader &) = delete;

  /// Exactly `size` bytes, or an error.
  void read(void *data, size_t size);
  /// An error unless all was read and its checksum is right.
  void expectEnd();
  /// Deflate cannot make more of what is compressed.
  uint64_t mostBytes() const;

private:
  size_t readSome(uint8_t *data, size_t size);
  struct Stream;
  std::string name;
  uint64_t compressedBytes;
  std::unique_ptr<Stream> stream;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_GZIP_H
