// NumPy arrays as datasets.

#include "runtime/data/Failure.h"
#include "runtime/data/readers/Arrays.h"
#include "runtime/data/readers/Zip.h"
#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Npy.h"

namespace dlc::data {

namespace {

/// The array within `bytes`, which `owner` keeps; a copy where the bytes cannot be
/// used as they are.
Array arrayIn(std::span<const uint8_t> bytes, const std::string &field, const std::string &origin,
              const std::shared_ptr<const void> &owner) {
  cli::SpanSource source(origin, bytes);
  cli::NpyHeader header = cli::readNpyHeader(source);
  const uint8_t *data = bytes.data() + (bytes.size() - source.remaining());
  bool moves = header.bigEndian || (header.fortranOrder && header.dims.size() > 1);
  bool aligned = reinterpret_cast<uintptr_t>(data) % header.elementBytes == 0;
  // Bools may hold any byte until they are read properly.
  if (!moves && aligned && header.type != DLC_BOOL)
    return {field, origin, header.type, std::move(header.dims), data, owner};
  cli::SpanSource again(origin, bytes);
  return ownedArray(field, origin, cli::readNpy(again));
}

std::string arrayName(const std::string &path, const std::string &field) {
  return path + ": array " + inQuotes(field);
}

/// The arrays of an archive that is not compressed, in place; none of any other.
std::vector<Array> storedArrays(const std::string &path, const std::shared_ptr<cli::MappedFile> &file) {
  std::vector<Array> arrays;
  for (StoredEntry &entry : storedEntries(file->bytes())) {
    std::string field = std::move(entry.name);
    if (field.ends_with(".npy"))
      field.resize(field.size() - 4);
    if (!checksumIsRight(entry))
      fail(DLC_USAGE, arrayName(path, field), ": wrong checksum");
    arrays.push_back(arrayIn(entry.bytes, field, arrayName(path, field), file));
  }
  return arrays;
}

} // namespace

Status openNpy(const std::vector<NamedFile> &files, DatasetPtr &dataset) {
  return guarded([&] {
    std::vector<Array> arrays;
    for (const NamedFile &file : files) {
      auto mapped = std::make_shared<cli::MappedFile>(file.path);
      arrays.push_back(arrayIn(mapped->bytes(), file.field, file.path, mapped));
    }
    dataset = std::make_unique<ArrayDataset>(files.empty() ? "" : files[0].path, std::move(arrays));
  });
}

Status openNpz(const std::string &path, DatasetPtr &dataset) {
  return guarded([&] {
    auto mapped = std::make_shared<cli::MappedFile>(path);
    std::vector<Array> arrays = storedArrays(path, mapped);
    if (arrays.empty())
      for (cli::NamedTensor &array : cli::readNpz(path))
        arrays.push_back(ownedArray(array.name, arrayName(path, array.name), std::move(array.tensor)));
    dataset = std::make_unique<ArrayDataset>(path, std::move(arrays));
  });
}

} // namespace dlc::data
