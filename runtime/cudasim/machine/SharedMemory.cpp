#include "runtime/cudasim/machine/SharedMemory.h"

namespace dlc::sim {

void SharedMemory::reset(uint32_t bytes) {
  uint32_t rounded = (bytes + 15) / 16 * 16;
  memory.resize(rounded);
  // Garbage, the same one every time.
  memset(memory.data(), 0xcd, rounded);
  words.resize(rounded / 4);
  if (rounded)
    memset(static_cast<void *>(words.data()), 0, rounded / 4 * sizeof(Word));
}

Hazard SharedMemory::readWord(Word &word, uint8_t mask, const SharedAccess &who, uint16_t *other) {
  if (word.isPending)
    return Hazard::Pending;
  if ((word.writeMask & mask) && !isOrdered(word.writeEpoch, word.writer, word.writeWarpEpoch, who)) {
    *other = word.writer;
    return Hazard::ReadAfterWrite;
  }
  if (word.readEpoch != who.epoch || !word.readMask) {
    word.readEpoch = who.epoch;
    word.readMask = 0;
    word.manyReaders = 0;
  } else if (word.reader / 32 != who.thread / 32) {
    word.manyReaders = 1; // of several warps: only a barrier orders a write after them
  }
  word.readWarpEpoch = who.warpEpoch;
  word.reader = who.thread;
  word.readMask |= mask;
  return (word.initialized & mask) == mask ? Hazard::None : Hazard::Uninitialized;
}

Hazard SharedMemory::writeWord(Word &word, uint8_t mask, const SharedAccess &who, uint16_t *other,
                               bool isAtomic) {
  if (word.isPending)
    return Hazard::Pending;
  bool isOrderedWrite = isOrdered(word.writeEpoch, word.writer, word.writeWarpEpoch, who);
  if ((word.writeMask & mask) && !isOrderedWrite && !(isAtomic && word.isAtomic)) {
    *other = word.writer;
    return Hazard::WriteAfterWrite;
  }
  bool isReadOrdered = isOrdered(word.readEpoch, word.reader, word.readWarpEpoch, who) &&
                       !(word.manyReaders && word.readEpoch == who.epoch);
  if ((word.readMask & mask) && !isReadOrdered) {
    *other = word.reader;
    return Hazard::WriteAfterRead;
  }
  bool isSameWriter = word.writeEpoch == who.epoch && word.writer == who.thread;
  word.writeMask = isSameWriter ? uint8_t(word.writeMask | mask) : mask;
  word.writeEpoch = who.epoch;
  word.writeWarpEpoch = who.warpEpoch;
  word.writer = who.thread;
  word.isAtomic = isAtomic;
  word.initialized |= mask;
  return Hazard::None;
}

Hazard SharedMemory::read(uint32_t offset, unsigned bytes, const SharedAccess &who, uint16_t *other) {
  return each(offset, bytes, [&](Word &word, uint8_t mask) { return readWord(word, mask, who, other); });
}

Hazard SharedMemory::write(uint32_t offset, unsigned bytes, const SharedAccess &who, uint16_t *other) {
  return each(offset, bytes,
              [&](Word &word, uint8_t mask) { return writeWord(word, mask, who, other, false); });
}

Hazard SharedMemory::atomic(uint32_t offset, unsigned bytes, const SharedAccess &who, uint16_t *other) {
  return each(offset, bytes, [&](Word &word, uint8_t mask) {
    if (word.isPending)
      return Hazard::Pending;
    if ((word.initialized & mask) != mask)
      return Hazard::Uninitialized;
    return writeWord(word, mask, who, other, true);
  });
}

void SharedMemory::setPending(uint32_t offset, unsigned bytes, bool isPending) {
  each(offset, bytes, [&](Word &word, uint8_t) {
    word.isPending = isPending;
    return Hazard::None;
  });
}

} // namespace dlc::sim
