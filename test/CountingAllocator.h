// Counts a test program's allocations by replacing the allocator: for programs of their
// own, in one file of them.

#ifndef DLC_TEST_COUNTINGALLOCATOR_H
#define DLC_TEST_COUNTINGALLOCATOR_H

#include <atomic>
#include <cstdlib>

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void *__libc_malloc(size_t);
void *__libc_memalign(size_t, size_t);
// Visible, so that the library's calls come here too.
__attribute__((visibility("default"))) void *malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}

#endif // DLC_TEST_COUNTINGALLOCATOR_H
