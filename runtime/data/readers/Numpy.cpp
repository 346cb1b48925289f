// NumPy arrays as datasets.

#include "runtime/data/Failure.h"
#include "runtime/data/readers/Arrays.h"
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
    std::vector<Array> arrays;
    for (cli::NamedTensor &array : cli::readNpz(path))
      arrays.push_back(ownedArray(array.name, path + ": array " + inQuotes(array.name),
                                  std::move(array.tensor)));
    dataset = std::make_unique<ArrayDataset>(path, std::move(arrays));
  });
}

} // namespace dlc::data
