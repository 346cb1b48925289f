#include "runtime/data/Slot.h"

#include "runtime/data/Failure.h"
#include "runtime/tools/io/Tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dlc::data {

Memory::Memory(const Allocator &owner, size_t bytes) : allocator(&owner), sizeBytes(bytes) {
  constexpr size_t alignment = 64;
  size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  start = static_cast<uint8_t *>(owner.allocate ? owner.allocate(bytes)
                                                : std::aligned_alloc(alignment, rounded));
  if (!start)
    fail(DLC_OUT_OF_MEMORY, "no memory for a batch's field of ", bytes, " bytes");
}

Memory::~Memory() {
  if (!start)
    return;
  if (allocator->allocate)
    allocator->release(start, sizeBytes);
  else
    std::free(start);
}

std::string specText(dlc_type type, std::span<const int64_t> dims) {
  return cli::typeText(type, dims);
}

void Slot::reserve(const Layout &batch, uint64_t capacity, const Allocator &allocator) {
  if (layout)
    return;
  for (const FieldSpec &field : batch.fields) {
    size_t bytes = static_cast<size_t>(dlc_type_size_bytes(
        field.type, field.dims.data(), static_cast<int>(field.dims.size())));
    sampleBytes.push_back(bytes);
    memory.emplace_back(allocator, bytes * capacity); // checked when the loader was made
  }
  indices.resize(capacity);
  broken.resize(capacity);
  tensors.resize(batch.fields.size());
  layout = &batch;
}

void Slot::put(uint64_t place, const Sample &sample) {
  for (size_t i = 0; i < layout->fields.size(); ++i) {
    const FieldSpec &field = layout->fields[i];
    const Value &value = sample.values[layout->valueOf[i]];
    if (value.type() != field.type || !std::ranges::equal(value.dims(), field.dims))
      fail(DLC_USAGE, "field ", inQuotes(field.name), " is ", specText(value.type(), value.dims()),
           ", the batch holds ", specText(field.type, field.dims));
    if (sampleBytes[i] != 0)
      std::memcpy(memory[i].data() + place * sampleBytes[i], value.bytes().data(), sampleBytes[i]);
  }
  indices[place] = sample.index;
  broken[place] = false;
}

void Slot::markBroken(uint64_t place) { broken[place] = true; }

void Slot::closeGaps() {
  count = 0;
  for (uint64_t place = 0; place < size; ++place) {
    if (broken[place])
      continue;
    if (count != place) {
      for (size_t i = 0; i < memory.size(); ++i)
        std::memmove(memory[i].data() + count * sampleBytes[i],
                     memory[i].data() + place * sampleBytes[i], sampleBytes[i]);
      indices[count] = indices[place];
    }
    ++count;
  }
}

void Slot::recordFailure(uint64_t place, dlc_code failure, const std::string &text) {
  if (code != DLC_OK && failedPlace < place)
    return;
  code = failure;
  failedPlace = place;
  message = text;
}

dlc_tensor *Slot::tensor(size_t field) {
  if (tensorCount != count) {
    for (Tensor &tensor : tensors)
      tensor = Tensor();
    tensorCount = count;
  }
  if (!tensors[field]) {
    const FieldSpec &spec = layout->fields[field];
    std::vector<int64_t> dims(spec.dims);
    if (layout->addsAxis)
      dims.insert(dims.begin(), static_cast<int64_t>(count));
    dlc_tensor *made = nullptr;
    // Cannot fail: type, rank and size were checked when the loader was made.
    Status status(dlc_tensor_wrap(spec.type, dims.data(), static_cast<int>(dims.size()),
                                  memory[field].data(), sampleBytes[field] * count, &made));
    tensors[field] = Tensor(made);
  }
  return tensors[field].get();
}

} // namespace dlc::data
