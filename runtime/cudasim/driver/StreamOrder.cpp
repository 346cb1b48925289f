#include "runtime/cudasim/driver/StreamOrder.h"

#include <algorithm>

namespace dlc::sim {

/// No segment reaches over `at` afterwards.
void StreamOrder::split(uint64_t at) {
  auto it = segments.upper_bound(at);
  if (it == segments.begin())
    return;
  --it;
  if (it->first >= at || it->second.end <= at)
    return;
  Segment rest = it->second;
  it->second.end = at;
  segments.emplace(at, std::move(rest));
}

/// Segments cover [begin, end) without a gap and without reaching over its ends.
void StreamOrder::cover(uint64_t begin, uint64_t end) {
  split(begin);
  split(end);
  for (uint64_t at = begin; at < end;) {
    auto it = segments.lower_bound(at);
    uint64_t next = it == segments.end() ? end : std::min(end, it->first);
    if (next > at)
      segments[at].end = next;
    at = next < end ? segments[next].end : end;
  }
}

/// Neighbours around [begin, end) that say the same become one.
void StreamOrder::join(uint64_t begin, uint64_t end) {
  auto it = segments.lower_bound(begin);
  if (it != segments.begin())
    --it;
  while (it != segments.end() && it->first <= end) {
    auto next = std::next(it);
    if (next == segments.end())
      return;
    if (it->second.end == next->first && it->second.writer == next->second.writer &&
        it->second.readers == next->second.readers) {
      it->second.end = next->second.end;
      segments.erase(next);
    } else {
      it = next;
    }
  }
}

bool StreamOrder::isBefore(const Accessor &accessor) const {
  return accessor.stream == 0 || accessor.sequence <= current->clock.at(accessor.stream) ||
         (accessor.stream == current->stream && accessor.sequence <= current->sequence);
}

std::string StreamOrder::conflict(const Segment &segment, bool isWrite) const {
  auto describe = [](const Accessor &other, const char *what) {
    return std::string(what) + " of " + other.name + " in stream " + std::to_string(other.stream) +
           ": no event, wait or synchronisation lies between them";
  };
  if (!isBefore(segment.writer))
    return describe(segment.writer, "the write");
  if (isWrite)
    for (const Accessor &reader : segment.readers)
      if (!isBefore(reader))
        return describe(reader, "the read");
  return "";
}

void StreamOrder::record(Segment &segment, bool isWrite) {
  Accessor self{current->stream, current->sequence, name};
  if (isWrite) {
    segment.writer = self;
    segment.readers.clear();
    return;
  }
  for (Accessor &reader : segment.readers)
    if (reader.stream == self.stream)
      return void(reader = self);
  segment.readers.push_back(self);
}

std::string StreamOrder::touch(uint64_t address, uint64_t bytes, bool isWrite) {
  if (!current || bytes == 0)
    return "";
  uint64_t end = address + bytes;
  std::string found;
  cover(address, end);
  for (auto it = segments.find(address); it != segments.end() && it->first < end; ++it) {
    if (found.empty())
      found = conflict(it->second, isWrite);
    record(it->second, isWrite);
  }
  join(address, end);
  return found;
}

void StreamOrder::forget(uint64_t address, uint64_t bytes) {
  split(address);
  split(address + bytes);
  segments.erase(segments.lower_bound(address), segments.lower_bound(address + bytes));
}

} // namespace dlc::sim
