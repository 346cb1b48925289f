// The IDX format of MNIST: two zero bytes, a type, a rank, big-endian sizes and data.

#include "runtime/data/Failure.h"
#include "runtime/data/Gzip.h"
#include "runtime/data/readers/Arrays.h"
#include "runtime/tools/io/File.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dlc::data {

namespace {

struct IdxHeader {
  dlc_type type;
  size_t elementBytes, headerBytes, dataBytes;
  cli::Dims dims;
};

dlc_type idxType(uint8_t code, const std::string &file) {
  switch (code) {
  case 0x08: return DLC_U8;
  case 0x09: return DLC_I8;
  case 0x0b: return DLC_I16;
  case 0x0c: return DLC_I32;
  case 0x0d: return DLC_F32;
  case 0x0e: return DLC_F64;
  default: fail(DLC_USAGE, file, ": not an IDX file: unknown element type ", int(code));
  }
}

/// `read` gives the file's first bytes, in order.
template <typename ReadBytes>
IdxHeader readIdxHeader(const std::string &file, const ReadBytes &read) {
  uint8_t magic[4];
  read(magic, sizeof magic);
  if (magic[0] != 0 || magic[1] != 0)
    fail(DLC_USAGE, file, ": not an IDX file: it does not begin with two zero bytes");
  IdxHeader header;
  header.type = idxType(magic[2], file);
  size_t rank = magic[3];
  if (rank == 0 || rank > DLC_MAX_RANK)
    fail(DLC_USAGE, file, ": an IDX array of rank ", rank, "; 1 to ", DLC_MAX_RANK, " are supported");
  for (size_t axis = 0; axis < rank; ++axis) {
    uint8_t size[4];
    read(size, sizeof size);
    header.dims.push_back(int64_t(size[0]) << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  int64_t bytes = dlc_type_size_bytes(header.type, header.dims.data(), static_cast<int>(rank));
  if (bytes < 0)
    fail(DLC_USAGE, file, ": the size of ", cli::typeText(header.type, header.dims), " overflows");
  header.elementBytes = static_cast<size_t>(dlc_type_size_bytes(header.type, nullptr, 0));
  header.headerBytes = 4 + 4 * rank;
  header.dataBytes = static_cast<size_t>(bytes);
  return header;
}

void checkIdxSize(const IdxHeader &header, uint64_t most, bool exact, const std::string &file) {
  if (exact ? header.dataBytes != most : header.dataBytes > most)
    fail(DLC_USAGE, file, ": ", cli::typeText(header.type, header.dims), " needs ", header.dataBytes,
         " bytes, ", exact ? "" : "at most ", most, " are there");
}

void toLittleEndian(std::span<uint8_t> bytes, size_t width) {
  if (width > 1)
    for (size_t at = 0; at < bytes.size(); at += width)
      std::reverse(bytes.begin() + at, bytes.begin() + at + width);
}

cli::Tensor emptyTensor(const IdxHeader &header, const std::string &file) {
  return cli::makeTensor(header.type, header.dims, file);
}

Array readCompressed(std::span<const uint8_t> bytes, const NamedFile &file) {
  GzipReader gzip(file.path, bytes);
  IdxHeader header =
      readIdxHeader(file.path, [&](void *data, size_t size) { gzip.read(data, size); });
  checkIdxSize(header, gzip.mostBytes(), false, file.path);
  cli::Tensor tensor = emptyTensor(header, file.path);
  gzip.read(cli::bytesOf(*tensor).data(), header.dataBytes);
  gzip.expectEnd();
  toLittleEndian(cli::bytesOf(*tensor), header.elementBytes);
  return ownedArray(file.field, file.path, std::move(tensor));
}

Array readIdx(const NamedFile &file) {
  auto mapped = std::make_shared<cli::MappedFile>(file.path);
  if (isGzip(mapped->bytes()))
    return readCompressed(mapped->bytes(), file);
  cli::SpanSource source(file.path, mapped->bytes());
  IdxHeader header =
      readIdxHeader(file.path, [&](void *data, size_t size) { source.read(data, size); });
  checkIdxSize(header, source.remaining(), true, file.path);
  const uint8_t *data = mapped->bytes().data() + header.headerBytes;
  if (header.elementBytes == 1)
    return {file.field, file.path, header.type, std::move(header.dims), data, mapped};
  cli::Tensor tensor = emptyTensor(header, file.path);
  source.read(cli::bytesOf(*tensor).data(), header.dataBytes);
  toLittleEndian(cli::bytesOf(*tensor), header.elementBytes);
  return ownedArray(file.field, file.path, std::move(tensor));
}

} // namespace

Status openIdx(const std::vector<NamedFile> &files, DatasetPtr &dataset) {
  return guarded([&] {
    std::vector<Array> arrays;
    for (const NamedFile &file : files)
      arrays.push_back(readIdx(file));
    dataset = std::make_unique<ArrayDataset>(files.empty() ? "" : files[0].path, std::move(arrays));
  });
}

} // namespace dlc::data
