// Floats of 16 and 8 bits: exact to double, and back with the rounding asked for.

#ifndef DLC_RUNTIME_CUDASIM_OPS_NARROW_H
#define DLC_RUNTIME_CUDASIM_OPS_NARROW_H

#include <cstdint>
#include <cstring>
#include <immintrin.h>

namespace dlc::sim {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

/// A format of the IEEE kind; `hasInfinity` is false for e4m3, whose last code is NaN.
struct NarrowFormat {
  int exponentBits, mantissaBits;
  bool hasInfinity;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
};
inline constexpr NarrowFormat kF16{5, 10, true}, kBF16{8, 7, true}, kTF32{8, 10, true},
    kE4M3{4, 3, false}, kE5M2{5, 2, true};

/// The bits of `x` in a format. `isFinite`: overflow gives the largest number.
uint32_t toNarrow(double x, NarrowFormat format, Rounding rounding, bool isFinite);
double fromNarrow(uint32_t bits, NarrowFormat format);

inline float halfToFloat(uint16_t bits) { return _cvtsh_ss(bits); }
inline uint16_t floatToHalf(float x) { // to nearest even; NaN is canonical
  return x != x ? 0x7fff : uint16_t(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT));
}
inline float bfloatToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float x;
  memcpy(&x, &wide, sizeof x);
  return x;
}
inline uint16_t floatToBfloat(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return x != x ? 0x7fff : uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// a * b + c with the last bit of the double sticky, so that rounding it once more
/// to a narrow format is as if it were rounded once. The product must be exact.
double fusedToOdd(double a, double b, double c);

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_OPS_NARROW_H
