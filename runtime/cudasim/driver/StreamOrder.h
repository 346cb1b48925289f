// Finds accesses to device memory that nothing orders: two pieces of work of different
// streams, one of which writes, without an event, a wait or a synchronisation between
// them. Happens-before by vector clocks (Fidge 1988, Mattern 1989), accesses by ranges.

#ifndef DLC_RUNTIME_CUDASIM_DRIVER_STREAMORDER_H
#define DLC_RUNTIME_CUDASIM_DRIVER_STREAMORDER_H

#include "runtime/cudasim/machine/Block.h"

#include <map>
#include <string>
#include <vector>

namespace dlc::sim {

/// By a stream's number: how much of its work is known to be done.
class Clock {
public:
  uint64_t at(uint64_t stream) const {
    auto found = counts.find(stream);
    return found == counts.end() ? 0 : found->second;
  }
  void set(uint64_t stream, uint64_t count) { counts[stream] = count; }
  void merge(const Clock &other) {
    for (auto [stream, count] : other.counts)
      counts[stream] = std::max(at(stream), count);
  }

private:
  std::map<uint64_t, uint64_t> counts;
};

/// A piece of work: number `sequence` of a stream, after what its clock tells.
struct OrderedWork {
  uint64_t stream = 0, sequence = 0;
  Clock clock;
};

class StreamOrder : public AccessObserver {
public:
  /// Accesses from here on are those of `work`; null: of nobody, and none is looked at.
  void begin(const OrderedWork *work) { current = work, name = "work"; }
  void setName(const std::string &text) { name = text; }
  bool isActive() const { return current != nullptr; }

  std::string access(uint64_t address, unsigned bytes, bool isWrite) override {
    return touch(address, bytes, isWrite);
  }
  /// Empty, or with what an access to the range is not ordered.
  std::string touch(uint64_t address, uint64_t bytes, bool isWrite);
  /// The range is free: nobody's accesses matter any more.
  void forget(uint64_t address, uint64_t bytes);

private:
  struct Accessor {
    uint64_t stream = 0, sequence = 0;
    std::string name;
    bool operator==(const Accessor &) const = default;
  };
  struct Segment {
    uint64_t end = 0;
    Accessor writer; // stream 0: nobody
    std::vector<Accessor> readers;
    bool operator==(const Segment &) const = default;
  };
  using Segments = std::map<uint64_t, Segment>;

  void split(uint64_t at);
  void cover(uint64_t begin, uint64_t end);
  void join(uint64_t begin, uint64_t end);
  bool isBefore(const Accessor &accessor) const;
  std::string conflict(const Segment &segment, bool isWrite) const;
  void record(Segment &segment, bool isWrite);

  const OrderedWork *current = nullptr;
  std::string name;
  Segments segments; // by their first byte; disjoint
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_DRIVER_STREAMORDER_H
