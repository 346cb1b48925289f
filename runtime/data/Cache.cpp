#include "runtime/data/Cache.h"

#include "runtime/data/Failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dlc::data {

namespace {

/// Before each value's bytes.
struct Header {
  int64_t type, rank, dims[DLC_MAX_RANK];
};
constexpr size_t kAlignment = 16;
static_assert(sizeof(Header) % kAlignment == 0);
constexpr size_t kSlabBytes = size_t(4) << 20;
constexpr size_t kEntryBytes = 64; // of the table, about

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t packedBytes(const Sample &sample) {
  size_t total = 0;
  for (const Value &value : sample.values)
    total += sizeof(Header) + aligned(value.bytes().size());
  return total;
}

void pack(const Sample &sample, uint8_t *out) {
  for (const Value &value : sample.values) {
    Header header = {value.type(), static_cast<int64_t>(value.dims().size()), {}};
    std::copy(value.dims().begin(), value.dims().end(), header.dims);
    std::memcpy(out, &header, sizeof header);
    if (!value.bytes().empty())
      std::memcpy(out + sizeof header, value.bytes().data(), value.bytes().size());
    out += sizeof header + aligned(value.bytes().size());
  }
}

} // namespace

Cache::Cache(const LoaderOptions &options)
    : memoryBudget(options.cacheBytes),
      fileBudget(options.cacheFile.empty() ? 0 : options.cacheFileBytes) {
  if (fileBudget == 0)
    return;
  const std::string &path = options.cacheFile;
  descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0)
    fail(DLC_USAGE, path, ": cannot make the cache file: ", std::strerror(errno));
  unlink(path.c_str());
  void *start = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(fileBudget)) == 0)
    start = mmap(nullptr, fileBudget, PROT_READ, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED) {
    int error = errno;
    close(descriptor);
    fail(DLC_USAGE, path, ": cannot make a cache file of ", fileBudget, " bytes: ",
         std::strerror(error));
  }
  mapped = static_cast<uint8_t *>(start);
  mappedBytes = fileBudget;
}

Cache::~Cache() {
  if (mapped)
    munmap(mapped, mappedBytes);
  if (descriptor >= 0)
    close(descriptor);
}

bool Cache::fetch(uint64_t index, Sample &sample) {
  const uint8_t *at;
  {
    std::lock_guard lock(mutex);
    auto found = entries.find(index);
    if (found == entries.end()) {
      ++misses;
      return false;
    }
    ++hits;
    at = found->second;
  }
  sample.index = index;
  for (Value &value : sample.values) {
    Header header;
    std::memcpy(&header, at, sizeof header);
    value.borrow(static_cast<dlc_type>(header.type),
                 {header.dims, static_cast<size_t>(header.rank)}, at + sizeof header);
    at += sizeof header + aligned(value.bytes().size());
  }
  return true;
}

void Cache::store(const Sample &sample) {
  size_t bytes = packedBytes(sample);
  std::lock_guard lock(mutex);
  if (entries.contains(sample.index))
    return;
  const uint8_t *at = nullptr;
  if (uint8_t *memory = takeMemory(bytes)) {
    pack(sample, memory);
    at = memory;
  } else if (fileBudget - fileUsed >= bytes) {
    std::vector<uint8_t> packed(bytes);
    pack(sample, packed.data());
    at = storeInFile(packed);
  }
  if (at)
    entries.emplace(sample.index, at);
}

uint8_t *Cache::takeMemory(size_t bytes) {
  if (memoryBudget - memoryUsed < bytes + kEntryBytes)
    return nullptr;
  if (slabLeft < bytes) {
    // A slab counts as it is used: the system gives its pages at the first touch.
    size_t size = std::max(bytes, std::min(kSlabBytes, memoryBudget - memoryUsed));
    slabs.emplace_back(new uint8_t[size]);
    slabNext = slabs.back().get();
    slabLeft = size;
  }
  uint8_t *result = slabNext;
  slabNext += bytes;
  slabLeft -= bytes;
  memoryUsed += bytes + kEntryBytes;
  return result;
}

/// Written, not stored through the mapping: a full disk is an error here, not a signal.
const uint8_t *Cache::storeInFile(const std::vector<uint8_t> &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                           static_cast<off_t>(fileUsed + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      fileBudget = fileUsed; // the disk is full: no more is tried
      return nullptr;
    }
    done += static_cast<size_t>(count);
  }
  const uint8_t *at = mapped + fileUsed;
  fileUsed += bytes.size();
  return at;
}

void Cache::count(Statistics &statistics) const {
  std::lock_guard lock(mutex);
  statistics.cacheHits = hits;
  statistics.cacheMisses = misses;
  statistics.cachedBytes = memoryUsed;
  statistics.cachedFileBytes = fileUsed;
}

} // namespace dlc::data
