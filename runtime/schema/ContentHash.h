// A 64-bit hash of an artifact's contents: finds damage, not malice.

#ifndef DLC_RUNTIME_SCHEMA_CONTENTHASH_H
#define DLC_RUNTIME_SCHEMA_CONTENTHASH_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dlc::schema {

/// Four lanes of multiply-rotate over 32-byte blocks, then a mix of the tail;
/// about the speed of memory. `size` is part of the hash.
inline uint64_t contentHash(const void *data, size_t size) {
  constexpr uint64_t p1 = 0x9E3779B185EBCA87ull, p2 = 0xC2B2AE3D27D4EB4Full;
  auto rotate = [](uint64_t x, int bits) { return x << bits | x >> (64 - bits); };
  auto bytes = static_cast<const unsigned char *>(data);
  uint64_t lanes[4] = {p1, p2, p1 ^ p2, p1 + p2};
  size_t at = 0;
  for (; at + 32 <= size; at += 32)
    for (int lane = 0; lane < 4; ++lane) {
      uint64_t word;
      std::memcpy(&word, bytes + at + 8 * lane, 8);
      lanes[lane] = rotate(lanes[lane] + word * p2, 31) * p1;
    }
  uint64_t hash = size;
  for (uint64_t lane : lanes)
    hash = rotate(hash ^ lane, 27) * p1 + p2;
  for (; at < size; ++at)
    hash = rotate(hash ^ bytes[at] * p1, 11) * p2;
  hash ^= hash >> 33;
  hash *= p2;
  return hash ^ hash >> 29;
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_CONTENTHASH_H
