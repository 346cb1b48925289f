// Files as the readers see them: bytes of a known length, from a plain file or
// from an entry of a zip archive.

#ifndef DLC_RUNTIME_TOOLS_IO_FILE_H
#define DLC_RUNTIME_TOOLS_IO_FILE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace dlc::cli {

/// A stream whose length is known before it is read, so that every size a
/// header claims can be checked before memory is taken for it.
class ByteSource {
public:
  ByteSource(std::string name, uint64_t sizeBytes)
      : name(std::move(name)), sizeBytes(sizeBytes) {}
  virtual ~ByteSource() = default;

  /// Exactly `size` bytes, or an Error that says the source is truncated.
  void read(void *data, size_t size);
  uint64_t remaining() const { return sizeBytes - position; }

  const std::string name; // for messages
  const uint64_t sizeBytes;

protected:
  /// Up to `size` bytes; 0 at the end; throws an Error on a broken source.
  virtual size_t readSome(void *data, size_t size) = 0;

private:
  uint64_t position = 0;
};

class FileSource : public ByteSource {
public:
  /// Opens a plain file; directories and devices are refused.
  explicit FileSource(const std::string &path);
  ~FileSource() override;

protected:
  size_t readSome(void *data, size_t size) override;

private:
  struct Open;
  FileSource(const std::string &path, const Open &open);
  int descriptor;
};

/// Bytes that are in memory already.
class SpanSource : public ByteSource {
public:
  SpanSource(std::string name, std::span<const uint8_t> bytes)
      : ByteSource(std::move(name), bytes.size()), bytes(bytes) {}

protected:
  size_t readSome(void *data, size_t size) override;

private:
  std::span<const uint8_t> bytes;
};

/// A plain file mapped for reading.
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  std::span<const uint8_t> bytes() const { return {data, size}; }

private:
  const uint8_t *data = nullptr;
  size_t size = 0;
};

/// Writes beside the file and renames: an interrupted write, even by a crash of the
/// machine, leaves no half file.
void writeFile(const std::string &path, std::span<const std::string_view> parts);

bool hasExtension(const std::string &path, const char *extension);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_FILE_H
