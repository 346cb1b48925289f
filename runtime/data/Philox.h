// Philox4x32-10 (Salmon et al., SC 2011): random words as a function of a counter and
// a key, so that any draw can be made on any thread, in any order.

#ifndef DLC_RUNTIME_DATA_PHILOX_H
#define DLC_RUNTIME_DATA_PHILOX_H

#include <array>
#include <cstdint>

namespace dlc::data {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> x, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53u) * x[0], second = uint64_t(0xCD9E8D57u) * x[2];
    x = {uint32_t(second >> 32) ^ x[1] ^ key[0], uint32_t(second),
         uint32_t(first >> 32) ^ x[3] ^ key[1], uint32_t(first)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

/// Words of the counter's last place, so that no two uses share a draw.
enum class Draw : uint32_t { Sample, Order = 1u << 31, Replacement };

/// 64 random bits for a use of (seed, epoch, number).
inline uint64_t philoxWord(uint64_t seed, uint64_t epoch, uint64_t number, Draw draw) {
  std::array<uint32_t, 4> words =
      philox({uint32_t(number), uint32_t(number >> 32), uint32_t(epoch), uint32_t(draw)},
             {uint32_t(seed), uint32_t(seed >> 32)});
  return words[0] | uint64_t(words[1]) << 32;
}

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_PHILOX_H
