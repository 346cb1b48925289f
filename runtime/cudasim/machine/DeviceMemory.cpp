#include "runtime/cudasim/machine/DeviceMemory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace dlc::sim {

namespace {

void *reserve(uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

} // namespace

// Twice the addresses of what it holds: what is freed stays apart for a while.
DeviceMemory::DeviceMemory(uint64_t capacity)
    : reserved(roundUp(2 * capacity, kGranule)), total(capacity) {
  base = static_cast<char *>(reserve(reserved));
  written = static_cast<uint8_t *>(reserve(reserved / 8));
  owners = static_cast<uint32_t *>(reserve(reserved / kGranule * sizeof(uint32_t)));
  if (!base || !written || !owners) {
    base = nullptr;
    return;
  }
  holes[0] = reserved;
  allocations.emplace_back(); // id 0: nobody
}

DeviceMemory::~DeviceMemory() {
  if (base)
    munmap(base, reserved);
  if (written)
    munmap(written, reserved / 8);
  if (owners)
    munmap(owners, reserved / kGranule * sizeof(uint32_t));
}

/// Next fit: a freed place is taken again as late as possible.
uint64_t DeviceMemory::place(uint64_t bytes) {
  auto fits = [&](auto it) { return it != holes.end() && it->second >= bytes; };
  auto it = holes.lower_bound(cursor);
  while (it != holes.end() && !fits(it))
    ++it;
  if (it == holes.end())
    for (it = holes.begin(); it != holes.end() && !fits(it);)
      ++it;
  if (it == holes.end())
    return reserved;
  uint64_t offset = it->first, left = it->second - bytes;
  holes.erase(it);
  if (left)
    holes[offset + bytes] = left;
  cursor = offset + bytes;
  return offset;
}

uint64_t DeviceMemory::allocate(uint64_t bytes, bool isModule) {
  if (bytes == 0 || bytes > total - used)
    return 0;
  // At least one granule of nobody's between neighbours.
  uint64_t extent = roundUp(bytes, kGranule) + kGranule;
  uint64_t offset = place(extent);
  if (offset >= reserved)
    return 0;
  uint32_t id = uint32_t(allocations.size());
  allocations.push_back({start() + offset, bytes, Allocation::Live, isModule, false, ++serials});
  uint64_t first = offset / kGranule, count = roundUp(bytes, kGranule) / kGranule;
  std::fill_n(owners + first, count, id);
  owners[first + count] = 0;
  memset(written + offset / 8, 0, count * kGranule / 8);
  used += bytes;
  return start() + offset;
}

bool DeviceMemory::release(uint64_t address) {
  const Allocation *found = find(address);
  if (!found || found->address != address || found->state != Allocation::Live)
    return false;
  Allocation &freed = allocations[size_t(found - allocations.data())];
  freed.state = Allocation::Freed;
  used -= freed.bytes;
  uint64_t offset = address - start(), extent = roundUp(freed.bytes, kGranule) + kGranule;
  madvise(base + offset, roundUp(freed.bytes, kGranule) / 4096 * 4096 ? extent : 0, MADV_DONTNEED);
  auto it = holes.emplace(offset, extent).first;
  if (auto after = std::next(it); after != holes.end() && it->first + it->second == after->first) {
    it->second += after->second;
    holes.erase(after);
  }
  if (it != holes.begin())
    if (auto before = std::prev(it); before->first + before->second == it->first) {
      before->second += it->second;
      holes.erase(it);
    }
  return true;
}

std::string DeviceMemory::complaint(uint64_t address, uint64_t bytes) const {
  char text[200];
  if (!contains(address)) {
    snprintf(text, sizeof text, "address 0x%llx is not in device memory", (unsigned long long)address);
    return text;
  }
  const Allocation *found = find(address);
  if (!found) {
    // The closest one before it.
    uint64_t granule = (address - start()) / kGranule, back = 0;
    while (granule > 0 && back < 4096 && owners[granule] == 0)
      --granule, ++back;
    found = owners[granule] ? &allocations[owners[granule]] : nullptr;
    if (!found) {
      snprintf(text, sizeof text, "address 0x%llx was never allocated", (unsigned long long)address);
      return text;
    }
  }
  uint64_t end = found->address + found->bytes;
  if (found->state == Allocation::Live && address + bytes <= end)
    return "";
  if (found->state == Allocation::Freed && address < end)
    snprintf(text, sizeof text, "use after free: address 0x%llx is %llu bytes inside an allocation of %llu bytes that was freed",
             (unsigned long long)address, (unsigned long long)(address - found->address), (unsigned long long)found->bytes);
  else
    snprintf(text, sizeof text, "address 0x%llx is %llu bytes after the start of an allocation of %llu bytes at 0x%llx",
             (unsigned long long)address, (unsigned long long)(address - found->address),
             (unsigned long long)found->bytes, (unsigned long long)found->address);
  return text;
}

void DeviceMemory::markWritten(uint64_t address, uint64_t bytes) {
  uint64_t offset = address - start(), end = offset + bytes;
  while (offset < end && (offset & 7))
    markWrittenElement(start() + offset++, 1);
  uint64_t whole = (end - offset) / 8;
  memset(written + offset / 8, 0xff, whole);
  for (offset += whole * 8; offset < end; ++offset)
    markWrittenElement(start() + offset, 1);
}

void DeviceMemory::copyWritten(uint64_t to, uint64_t from, uint64_t bytes) {
  if ((to & 7) == 0 && (from & 7) == 0 && (bytes & 7) == 0) {
    memmove(written + (to - start()) / 8, written + (from - start()) / 8, bytes / 8);
    return;
  }
  std::vector<bool> bits(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    bits[i] = isWrittenElement(from + i, 1);
  for (uint64_t i = 0; i < bytes; ++i) {
    uint64_t offset = to + i - start();
    uint8_t bit = uint8_t(1u << (offset & 7));
    written[offset >> 3] = uint8_t(bits[i] ? written[offset >> 3] | bit : written[offset >> 3] & ~bit);
  }
}

bool DeviceMemory::isWritten(uint64_t address, uint64_t bytes) const {
  uint64_t offset = address - start(), end = offset + bytes;
  for (; offset < end && (offset & 7); ++offset)
    if (!isWrittenElement(start() + offset, 1))
      return false;
  for (; offset + 8 <= end; offset += 8)
    if (written[offset >> 3] != 0xff)
      return false;
  for (; offset < end; ++offset)
    if (!isWrittenElement(start() + offset, 1))
      return false;
  return true;
}

std::vector<Allocation> DeviceMemory::leaks() const {
  std::vector<Allocation> list;
  for (const Allocation &allocation : allocations)
    if (allocation.bytes && allocation.state == Allocation::Live && !allocation.isModule)
      list.push_back(allocation);
  return list;
}

} // namespace dlc::sim
