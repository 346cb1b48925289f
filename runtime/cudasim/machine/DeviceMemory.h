// The device's memory: one reservation of addresses, so that an address says at once
// which allocation it belongs to, live or freed, and which of its bytes were written.

#ifndef DLC_RUNTIME_CUDASIM_MACHINE_DEVICEMEMORY_H
#define DLC_RUNTIME_CUDASIM_MACHINE_DEVICEMEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::sim {

struct Allocation {
  enum State : uint8_t { Live, Freed };
  uint64_t address = 0, bytes = 0;
  State state = Live;
  bool isModule = false; // a variable of a module
  bool isReadOnly = false;
  uint64_t serial = 0;
};

class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  bool isValid() const { return base != nullptr; }

  /// 0 when there is no room.
  uint64_t allocate(uint64_t bytes, bool isModule = false);
  /// False when no live allocation starts there.
  bool release(uint64_t address);

  uint64_t capacity() const { return total; }
  uint64_t available() const { return total - used; }

  bool contains(uint64_t address) const { return address - start() < reserved; }
  /// The allocation around an address, freed ones too; null when there is none.
  const Allocation *find(uint64_t address) const {
    uint64_t offset = address - start();
    if (offset >= reserved)
      return nullptr;
    uint32_t id = owners[offset / kGranule];
    return id ? &allocations[id] : nullptr;
  }
  /// Empty when [address, address + bytes) lies in a live allocation, else what it is.
  std::string complaint(uint64_t address, uint64_t bytes) const;
  bool isLive(uint64_t address, uint64_t bytes) const {
    const Allocation *found = find(address);
    return found && found->state == Allocation::Live && address + bytes <= found->address + found->bytes;
  }

  // Which bytes have been written: a bit each.
  void markWritten(uint64_t address, uint64_t bytes);
  void copyWritten(uint64_t to, uint64_t from, uint64_t bytes);
  bool isWritten(uint64_t address, uint64_t bytes) const;
  /// `bytes` is 1, 2, 4 or 8 and the address a multiple of it.
  bool isWrittenElement(uint64_t address, unsigned bytes) const {
    uint64_t offset = address - start();
    unsigned bits = ((1u << bytes) - 1) << (offset & 7);
    return (written[offset >> 3] & bits) == bits;
  }
  void markWrittenElement(uint64_t address, unsigned bytes) {
    uint64_t offset = address - start();
    uint8_t bits = uint8_t(((1u << bytes) - 1) << (offset & 7));
    // Neighbours in the same byte may be written by another core.
    if ((written[offset >> 3] & bits) != bits)
      __atomic_fetch_or(&written[offset >> 3], bits, __ATOMIC_RELAXED);
  }

  /// Live allocations that are no module's, oldest first.
  std::vector<Allocation> leaks() const;

private:
  static constexpr uint64_t kGranule = 256;
  uint64_t start() const { return reinterpret_cast<uint64_t>(base); }
  uint64_t place(uint64_t bytes);

  char *base = nullptr;
  uint8_t *written = nullptr;
  uint32_t *owners = nullptr;
  uint64_t reserved = 0, total = 0, used = 0, cursor = 0, serials = 0;
  std::map<uint64_t, uint64_t> holes; // offset to size: never used, or freed
  std::vector<Allocation> allocations;
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_MACHINE_DEVICEMEMORY_H
