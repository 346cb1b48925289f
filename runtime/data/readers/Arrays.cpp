#include "runtime/data/readers/Arrays.h"

#include "runtime/data/Failure.h"

#include <algorithm>

namespace dlc::data {

Array ownedArray(std::string field, std::string origin, cli::Tensor tensor) {
  std::span<const int64_t> dims = cli::dimsOf(*tensor);
  Array array{std::move(field), std::move(origin), dlc_tensor_type(tensor.get()),
              cli::Dims(dims.begin(), dims.end()), cli::bytesOf(*tensor).data(), nullptr};
  array.owner = std::shared_ptr<dlc_tensor>(std::move(tensor));
  return array;
}

ArrayDataset::ArrayDataset(std::string file, std::vector<Array> arrays) : name(std::move(file)) {
  if (arrays.empty())
    fail(DLC_USAGE, name, ": no arrays");
  for (Array &array : arrays) {
    if (array.dims.empty())
      fail(DLC_USAGE, array.origin, ": a scalar has no samples");
    if (std::ranges::find(columns, array.field, [](const Column &c) { return c.spec.name; }) != columns.end())
      fail(DLC_USAGE, name, ": two arrays are named ", inQuotes(array.field));
    auto rows = static_cast<uint64_t>(array.dims[0]);
    if (&array != arrays.data() && rows != count)
      fail(DLC_USAGE, array.origin, ": ", rows, " samples, but ", arrays[0].origin, " has ", count);
    count = rows;
    std::vector<int64_t> dims(array.dims.begin() + 1, array.dims.end());
    int64_t stride = dlc_type_size_bytes(array.type, dims.data(), static_cast<int>(dims.size()));
    columns.push_back({{array.field, array.type, std::move(dims)}, array.data,
                       static_cast<size_t>(stride), std::move(array.owner)});
  }
}

std::vector<FieldSpec> ArrayDataset::fields() const {
  std::vector<FieldSpec> specs;
  for (const Column &column : columns)
    specs.push_back(column.spec);
  return specs;
}

std::string ArrayDataset::where(uint64_t index) const {
  return name + ": " + recordName + " " + std::to_string(index);
}

Status ArrayDataset::read(uint64_t index, Sample &sample) const {
  for (size_t i = 0; i < columns.size(); ++i)
    sample.values[i].borrow(columns[i].spec.type, columns[i].spec.dims,
                            columns[i].data + index * columns[i].strideBytes);
  return Status();
}

} // namespace dlc::data
