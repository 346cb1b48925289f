#include "dlc/data.hpp"

#include "runtime/core/Status.h"

#include <algorithm>
#include <new>

namespace dlc::data {

Status failure(dlc_code code, const std::string &message) {
  return Status(new dlc_status{code, message});
}

Dataset::~Dataset() = default;
Transform::~Transform() = default;

Status Dataset::decode(Sample &) const { return Status(); }

const char *stageName(Stage stage) {
  switch (stage) {
  case Read: return "read";
  case Decode: return "decode";
  case Augment: return "augment";
  case Collect: return "batch";
  case Transfer: return "transfer";
  case StageCount: break;
  }
  return "unknown";
}

void Value::become(const Shape &shape) {
  elementType = shape.type;
  rank = shape.rank;
  sizes = shape.sizes;
  sizeBytes = shape.sizeBytes;
}

void Value::borrow(dlc_type type, std::span<const int64_t> dims, const void *memory) {
  Shape shape{type, dims.size(), 0, {}};
  std::copy(dims.begin(), dims.end(), shape.sizes.begin());
  shape.sizeBytes = static_cast<size_t>(
      dlc_type_size_bytes(type, dims.data(), static_cast<int>(dims.size())));
  become(shape);
  data = static_cast<const uint8_t *>(memory);
}

uint8_t *Value::prepare(dlc_type type, std::span<const int64_t> dims) {
  int64_t size = dlc_type_size_bytes(type, dims.data(), static_cast<int>(dims.size()));
  if (size < 0)
    return nullptr;
  next = {type, dims.size(), static_cast<size_t>(size), {}};
  std::copy(dims.begin(), dims.end(), next.sizes.begin());
  // Never shrinks: vectors keep their capacity, and growing again would clear memory.
  if (back.size() < next.sizeBytes || back.empty()) {
    try {
      back.resize(std::max<size_t>(next.sizeBytes, 1));
    } catch (const std::bad_alloc &) {
      return nullptr;
    }
  }
  return back.data();
}

void Value::commit() {
  std::swap(front, back);
  become(next);
  data = front.data();
}

void Value::reshape(std::span<const int64_t> dims) {
  rank = dims.size();
  std::copy(dims.begin(), dims.end(), sizes.begin());
}

} // namespace dlc::data
