// Decoded samples kept from the first epoch on: in memory up to a budget, then in a
// mapped file. What is in stays in: each sample comes once an epoch, so making room for
// a new one would throw out one that is wanted just as soon.

#ifndef DLC_RUNTIME_DATA_CACHE_H
#define DLC_RUNTIME_DATA_CACHE_H

#include "dlc/data.hpp"

#include <mutex>
#include <unordered_map>

namespace dlc::data {

class Cache {
public:
  explicit Cache(const LoaderOptions &options);
  ~Cache();
  Cache(const Cache &) = delete;

  /// Values that borrow the cached bytes, which stay as long as the cache.
  bool fetch(uint64_t index, Sample &sample);
  /// Keeps a copy if there is room.
  void store(const Sample &sample);
  void count(Statistics &statistics) const;

private:
  uint8_t *takeMemory(size_t bytes);
  const uint8_t *storeInFile(const std::vector<uint8_t> &bytes);

  mutable std::mutex mutex;
  std::unordered_map<uint64_t, const uint8_t *> entries;
  size_t memoryBudget, fileBudget;
  size_t memoryUsed = 0, fileUsed = 0;
  std::vector<std::unique_ptr<uint8_t[]>> slabs;
  uint8_t *slabNext = nullptr;
  size_t slabLeft = 0;
  int descriptor = -1;
  uint8_t *mapped = nullptr;
  size_t mappedBytes = 0;
  uint64_t hits = 0, misses = 0;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_CACHE_H
