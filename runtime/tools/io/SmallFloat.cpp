#include "runtime/tools/io/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlc::cli {

namespace {

uint32_t signBit(const SmallFloat &format) {
  return 1u << (format.exponentBits + format.mantissaBits);
}

/// The greatest finite number, without its sign.
uint32_t greatest(const SmallFloat &format) {
  uint32_t allOnes = signBit(format) - 1;
  switch (format.specials) {
  case SmallFloat::IEEE: return allOnes - (1u << format.mantissaBits);
  case SmallFloat::NoInfinity: return allOnes - 1;
  case SmallFloat::UnsignedZero: return allOnes;
  }
  return allOnes;
}

uint32_t notANumber(const SmallFloat &format) {
  uint32_t allOnes = signBit(format) - 1;
  switch (format.specials) {
  case SmallFloat::IEEE:
    return greatest(format) + 1 + (1u << (format.mantissaBits - 1));
  case SmallFloat::NoInfinity: return allOnes;
  case SmallFloat::UnsignedZero: return signBit(format);
  }
  return allOnes;
}

} // namespace

const SmallFloat *smallFloat(dlc_type type) {
  static constexpr SmallFloat f16{5, 10, 15, SmallFloat::IEEE};
  static constexpr SmallFloat bf16{8, 7, 127, SmallFloat::IEEE};
  static constexpr SmallFloat e4m3fn{4, 3, 7, SmallFloat::NoInfinity};
  static constexpr SmallFloat e4m3fnuz{4, 3, 8, SmallFloat::UnsignedZero};
  static constexpr SmallFloat e5m2{5, 2, 15, SmallFloat::IEEE};
  static constexpr SmallFloat e5m2fnuz{5, 2, 16, SmallFloat::UnsignedZero};
  switch (type) {
  case DLC_F16: return &f16;
  case DLC_BF16: return &bf16;
  case DLC_F8E4M3FN: return &e4m3fn;
  case DLC_F8E4M3FNUZ: return &e4m3fnuz;
  case DLC_F8E5M2: return &e5m2;
  case DLC_F8E5M2FNUZ: return &e5m2fnuz;
  default: return nullptr;
  }
}

double decodeSmallFloat(uint32_t bits, const SmallFloat &format) {
  bool negative = bits & signBit(format);
  uint32_t magnitude = bits & (signBit(format) - 1);
  if (format.specials == SmallFloat::UnsignedZero && bits == signBit(format))
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > greatest(format))
    return format.specials == SmallFloat::IEEE && magnitude == greatest(format) + 1
               ? (negative ? -1 : 1) * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);
  int mantissa = static_cast<int>(magnitude & ((1u << format.mantissaBits) - 1));
  if (exponent != 0)
    mantissa += 1 << format.mantissaBits;
  double value = std::ldexp(mantissa, std::max(exponent, 1) - format.bias -
                                          format.mantissaBits);
  return negative ? -value : value;
}

uint32_t encodeSmallFloat(double value, const SmallFloat &format) {
  if (std::isnan(value))
    return notANumber(format);
  uint32_t sign = std::signbit(value) ? signBit(format) : 0;
  double magnitude = std::fabs(value);
  uint32_t bits = greatest(format) + 1;
  if (!std::isinf(magnitude)) {
    int lowest = 1 - format.bias; // the exponent of the smallest normal number
    int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
    double steps = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
    // The implicit one, and a carry from rounding, both land in the exponent.
    double whole = std::ldexp(exponent - lowest, format.mantissaBits) + steps;
    if (whole <= greatest(format))
      bits = static_cast<uint32_t>(whole);
  }
  if (bits > greatest(format))
    return format.specials == SmallFloat::IEEE ? sign | bits : notANumber(format);
  if (format.specials == SmallFloat::UnsignedZero && bits == 0)
    return 0;
  return sign | bits;
}

} // namespace dlc::cli
