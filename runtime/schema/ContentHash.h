// A 64-bit hash of an artifact's contents: finds damage, not malice.

#ifndef DLC_RUNTIME_SCHEMA_CONTENTHASH_H
#define DLC_RUNTIME_SCHEMA_CONTENTHASH_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dlc::schema {

/// Four lanes of multiply-rotate over 32-byte blocks, then a mix of the tail;
/// about the speed of memory. The size is part of the hash. Bytes may come in
/// pieces of any length: the hash is that of all of them.
class ContentHasher {
public:
  void update(const void *data, size_t size) {
    auto bytes = static_cast<const unsigned char *>(data);
    total += size;
    if (pending) { // fill the open block first
      size_t take = size < kBlock - pending ? size : kBlock - pending;
      std::memcpy(block + pending, bytes, take);
      pending += take, bytes += take, size -= take;
      if (pending < kBlock)
        return;
      mix(block);
      pending = 0;
    }
    for (; size >= kBlock; bytes += kBlock, size -= kBlock)
      mix(bytes);
    if (size)
      std::memcpy(block, bytes, size);
    pending = size;
  }

  uint64_t finish() const {
    uint64_t hash = total;
    for (uint64_t lane : lanes)
      hash = rotate(hash ^ lane, 27) * p1 + p2;
    for (size_t at = 0; at < pending; ++at)
      hash = rotate(hash ^ block[at] * p1, 11) * p2;
    hash ^= hash >> 33;
    hash *= p2;
    return hash ^ hash >> 29;
  }

private:
  static constexpr size_t kBlock = 32;
  static constexpr uint64_t p1 = 0x9E3779B185EBCA87ull, p2 = 0xC2B2AE3D27D4EB4Full;
  static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

  void mix(const unsigned char *bytes) {
    for (int lane = 0; lane < 4; ++lane) {
      uint64_t word;
      std::memcpy(&word, bytes + 8 * lane, 8);
      lanes[lane] = rotate(lanes[lane] + word * p2, 31) * p1;
    }
  }

  uint64_t lanes[4] = {p1, p2, p1 ^ p2, p1 + p2};
  uint64_t total = 0;
  unsigned char block[kBlock] = {};
  size_t pending = 0;
};

inline uint64_t contentHash(const void *data, size_t size) {
  ContentHasher hasher;
  hasher.update(data, size);
  return hasher.finish();
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_CONTENTHASH_H
