#include "runtime/core/Scratch.h"

#include <cstdlib>

namespace dlc::rt {

namespace {
constexpr int64_t kAlignment = 64;
} // namespace

Scratch &Scratch::ofThread() {
  static thread_local Scratch scratch;
  return scratch;
}

Scratch::~Scratch() {
  reset();
  free(memory);
}

void Scratch::reset() {
  for (void *block : overflow)
    free(block);
  overflow.clear();
  if (wanted > capacity) {
    free(memory);
    memory = static_cast<char *>(aligned_alloc(kAlignment, wanted));
    capacity = memory ? wanted : 0;
  }
  used = wanted = 0;
}

void *Scratch::allocate(int64_t sizeBytes) {
  if (sizeBytes < 0 || sizeBytes > INT64_MAX - wanted - kAlignment)
    return nullptr;
  int64_t size = (sizeBytes + kAlignment - 1) / kAlignment * kAlignment;
  size = size ? size : kAlignment;
  wanted += size;
  if (used + size <= capacity) {
    void *result = memory + used;
    used += size;
    return result;
  }
  void *block = aligned_alloc(kAlignment, size);
  if (block)
    overflow.push_back(block);
  return block;
}

void *Scratch::callback(const DlcKernelCall *, int64_t sizeBytes) {
  return ofThread().allocate(sizeBytes);
}

} // namespace dlc::rt
