// One batch's memory and where it is on its way: free, being filled by the workers,
// filled, ready for the consumer, held by it, free again.

#ifndef DLC_RUNTIME_DATA_SLOT_H
#define DLC_RUNTIME_DATA_SLOT_H

#include "dlc/data.hpp"

namespace dlc::data {

/// A block from the loader's allocator.
class Memory {
public:
  Memory() = default;
  Memory(const Allocator &allocator, size_t bytes);
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(allocator, other.allocator);
    std::swap(start, other.start);
    std::swap(sizeBytes, other.sizeBytes);
    return *this;
  }
  ~Memory();
  uint8_t *data() const { return start; }

private:
  const Allocator *allocator = nullptr;
  uint8_t *start = nullptr;
  size_t sizeBytes = 0;
};

/// The fields of a batch, and which value of a sample each is.
struct Layout {
  std::vector<FieldSpec> fields;
  std::vector<size_t> valueOf;
  bool addsAxis = true; // the batch axis goes in front
};

struct Slot {
  enum State { Free, Filling, Filled, Ready, Held };

  /// Takes the memory at the first use.
  void reserve(const Layout &layout, uint64_t capacity, const Allocator &allocator);
  /// Copies a sample to its place; throws if it does not fit the fields.
  void put(uint64_t place, const Sample &sample);
  void markBroken(uint64_t place);
  /// Moves the samples together over the broken ones.
  void closeGaps();
  /// Remembers the failure of the first place in batch order.
  void recordFailure(uint64_t place, dlc_code code, const std::string &message);
  dlc_tensor *tensor(size_t field);
  uint8_t *data(size_t field) const { return memory[field].data(); }

  // Guarded by the pipeline's mutex.
  State state = Free;
  uint64_t sequence = 0; // over all epochs
  uint64_t issued = 0, unfinished = 0;
  dlc_code code = DLC_OK;
  uint64_t failedPlace = 0;
  std::string message;

  // Set before the slot is filled, then constant.
  uint64_t epoch = 0, number = 0, firstPosition = 0, size = 0;
  bool lastOfEpoch = false;

  // Each place belongs to one worker; the rest to who fills or holds the slot.
  uint64_t count = 0; // size without the broken ones
  std::vector<uint64_t> indices;
  const Layout *layout = nullptr;

private:
  std::vector<size_t> sampleBytes;
  std::vector<Memory> memory;
  std::vector<uint8_t> broken;
  std::vector<Tensor> tensors;
  uint64_t tensorCount = 0;
};

/// "f32[3,32,32]".
std::string specText(dlc_type type, std::span<const int64_t> dims);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_SLOT_H
