#include "runtime/cudasim/ops/Narrow.h"

#include <cmath>

namespace dlc::sim {

namespace {

/// magnitude / 2^shift as an integer, rounded; `magnitude` is below 2^53.
uint64_t roundUnits(double scaled, bool isNegative, Rounding rounding) {
  double below = std::floor(scaled), rest = scaled - below;
  uint64_t units = uint64_t(below);
  bool isUp = false;
  switch (rounding) {
  case Rounding::Nearest: isUp = rest > 0.5 || (rest == 0.5 && (units & 1)); break;
  case Rounding::NearestAway: isUp = rest >= 0.5; break;
  case Rounding::Zero: break;
  case Rounding::Down: isUp = rest > 0 && isNegative; break;
  case Rounding::Up: isUp = rest > 0 && !isNegative; break;
  }
  return units + isUp;
}

} // namespace

uint32_t toNarrow(double x, NarrowFormat format, Rounding rounding, bool isFinite) {
  uint32_t sign = std::signbit(x) ? 1u << (format.exponentBits + format.mantissaBits) : 0;
  uint32_t allOnes = (1u << (format.exponentBits + format.mantissaBits)) - 1;
  uint32_t infinity = allOnes & ~((1u << format.mantissaBits) - 1);
  uint32_t largest = format.hasInfinity ? infinity - 1 : allOnes - 1;
  if (std::isnan(x))
    return allOnes;
  if (std::isinf(x))
    return sign | (isFinite ? largest : format.hasInfinity ? infinity : allOnes);
  double magnitude = std::fabs(x);
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude < 2^exponent
  int least = 1 - format.bias();
  int unit = (exponent - 1 < least ? least : exponent - 1) - format.mantissaBits;
  uint64_t units = roundUnits(std::ldexp(magnitude, -unit), sign != 0, rounding);
  // Rounding up to the next power of two carries into the exponent by itself.
  uint64_t code = units < (uint64_t(1) << format.mantissaBits)
                      ? units
                      : (uint64_t(unit + format.mantissaBits + format.bias()) << format.mantissaBits) +
                            units - (uint64_t(1) << format.mantissaBits);
  if (code > largest) {
    bool towardZero = rounding == Rounding::Zero || (rounding == Rounding::Down && !sign) ||
                      (rounding == Rounding::Up && sign);
    return sign | (isFinite || towardZero ? largest : format.hasInfinity ? infinity : allOnes);
  }
  return sign | uint32_t(code);
}

double fromNarrow(uint32_t bits, NarrowFormat format) {
  uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  uint32_t exponent = bits >> format.mantissaBits & ((1u << format.exponentBits) - 1);
  bool isNegative = bits >> (format.mantissaBits + format.exponentBits) & 1;
  uint32_t most = (1u << format.exponentBits) - 1;
  double magnitude;
  if (format.hasInfinity && exponent == most)
    magnitude = mantissa ? NAN : INFINITY;
  else if (!format.hasInfinity && exponent == most && mantissa == (1u << format.mantissaBits) - 1)
    magnitude = NAN;
  else if (exponent == 0)
    magnitude = std::ldexp(double(mantissa), 1 - format.bias() - format.mantissaBits);
  else
    magnitude = std::ldexp(double(mantissa | 1u << format.mantissaBits),
                           int(exponent) - format.bias() - format.mantissaBits);
  return isNegative ? -magnitude : magnitude;
}

double fusedToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  double back = sum - product;
  double error = (product - (sum - back)) + (c - back);
  if (error == 0)
    return sum;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if ((bits & 1) == 0) {
    // The exact value lies between two doubles: take the odd one.
    bool isAway = (error > 0) == (sum > 0);
    bits += isAway ? 1 : -1;
    memcpy(&sum, &bits, sizeof bits);
  }
  return sum;
}

} // namespace dlc::sim
