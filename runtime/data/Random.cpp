#include "dlc/data.hpp"

#include "runtime/data/Philox.h"

namespace dlc::data {

Random::Random(uint64_t seed, uint64_t epoch, uint64_t sample)
    : key{uint32_t(seed), uint32_t(seed >> 32)},
      counter{uint32_t(sample), uint32_t(sample >> 32), uint32_t(epoch), uint32_t(Draw::Sample)},
      block{}, used(4) {}

uint32_t Random::bits() {
  if (used == block.size()) {
    block = philox(counter, key);
    ++counter[3];
    used = 0;
  }
  return block[used++];
}

double Random::uniform() {
  uint64_t high = bits() >> 5, low = bits() >> 6; // 27 and 26 bits: a double's 53
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

uint64_t Random::below(uint64_t count) {
  // Multiply and keep the high part; redraw where that would favour some numbers.
  for (;;) {
    uint64_t low = bits(), word = low | uint64_t(bits()) << 32;
    auto product = static_cast<unsigned __int128>(word) * count;
    if (static_cast<uint64_t>(product) >= -count % count)
      return static_cast<uint64_t>(product >> 64);
  }
}

} // namespace dlc::data
