// Floating-point formats that C++20 has no type for: f16, bf16 and the f8 kinds.

#ifndef DLC_RUNTIME_TOOLS_IO_SMALLFLOAT_H
#define DLC_RUNTIME_TOOLS_IO_SMALLFLOAT_H

#include "dlc/dlc.h"

#include <cstdint>

namespace dlc::cli {

/// Null for types that are not small floats.
struct SmallFloat {
  enum Specials {
    IEEE,        // infinities, and NaNs with the top exponent
    NoInfinity,  // NaN is all ones but the sign
    UnsignedZero // no infinity; NaN is what would be -0
  };
  int exponentBits, mantissaBits, bias;
  Specials specials;
};
const SmallFloat *smallFloat(dlc_type type);

double decodeSmallFloat(uint32_t bits, const SmallFloat &format);
/// Rounds to nearest, ties to even; too large becomes infinity, or NaN where
/// the format has none.
uint32_t encodeSmallFloat(double value, const SmallFloat &format);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_SMALLFLOAT_H
