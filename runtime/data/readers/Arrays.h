// Records that are rows of arrays in memory or in mapped files: nothing is copied
// before the batch.

#ifndef DLC_RUNTIME_DATA_READERS_ARRAYS_H
#define DLC_RUNTIME_DATA_READERS_ARRAYS_H

#include "dlc/data.hpp"
#include "runtime/tools/io/Tensor.h"

namespace dlc::data {

/// A whole array and what keeps its memory.
struct Array {
  std::string field;
  std::string origin; // for messages
  dlc_type type;
  cli::Dims dims;
  const uint8_t *data;
  std::shared_ptr<const void> owner;
};

/// The array of a tensor.
Array ownedArray(std::string field, std::string origin, cli::Tensor tensor);

/// Where row i of a field is: data + i * strideBytes.
struct Column {
  FieldSpec spec;
  const uint8_t *data;
  size_t strideBytes;
  std::shared_ptr<const void> owner;
};

class ArrayDataset : public Dataset {
public:
  /// All the arrays' first axes must agree.
  explicit ArrayDataset(std::string name, std::vector<Array> arrays);
  /// `recordName` is what a message calls a record: "record", "window".
  ArrayDataset(std::string name, std::string recordName, uint64_t count, std::vector<Column> columns)
      : name(std::move(name)), recordName(std::move(recordName)), count(count),
        columns(std::move(columns)) {}

  uint64_t size() const override { return count; }
  std::vector<FieldSpec> fields() const override;
  std::string where(uint64_t index) const override;
  Status read(uint64_t index, Sample &sample) const override;

private:
  std::string name, recordName = "record";
  uint64_t count = 0;
  std::vector<Column> columns;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_READERS_ARRAYS_H
