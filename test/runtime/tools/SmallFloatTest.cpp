// f16, bf16 and f8: every bit pattern there and back, and what rounding must do.

#include "runtime/tools/io/SmallFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace dlc::cli;

namespace {

constexpr dlc_type kFormats[] = {DLC_F16,        DLC_BF16,   DLC_F8E4M3FN,
                                 DLC_F8E4M3FNUZ, DLC_F8E5M2, DLC_F8E5M2FNUZ};

uint32_t encode(dlc_type type, double value) {
  return encodeSmallFloat(value, *smallFloat(type));
}
double decode(dlc_type type, uint32_t bits) { return decodeSmallFloat(bits, *smallFloat(type)); }

TEST(SmallFloat, EveryNumberSurvives) {
  for (dlc_type type : kFormats) {
    const SmallFloat &format = *smallFloat(type);
    uint32_t count = 2u << (format.exponentBits + format.mantissaBits);
    for (uint32_t bits = 0; bits < count; ++bits) {
      double value = decode(type, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(type, encode(type, value))));
      else
        EXPECT_EQ(encode(type, value), bits) << dlc_type_name(type);
    }
  }
}

TEST(SmallFloat, GreatestNumbers) {
  EXPECT_EQ(decode(DLC_F16, 0x7bff), 65504);
  EXPECT_EQ(decode(DLC_BF16, 0x7f7f), 0x1.fep127);
  EXPECT_EQ(decode(DLC_F8E4M3FN, 0x7e), 448);
  EXPECT_EQ(decode(DLC_F8E4M3FNUZ, 0x7f), 240);
  EXPECT_EQ(decode(DLC_F8E5M2, 0x7b), 57344);
  EXPECT_EQ(decode(DLC_F8E5M2FNUZ, 0x7f), 57344);
}

TEST(SmallFloat, LeastNumbers) {
  EXPECT_EQ(decode(DLC_F16, 1), 0x1p-24);
  EXPECT_EQ(decode(DLC_F8E4M3FN, 1), 0x1p-9);
  EXPECT_EQ(decode(DLC_F8E4M3FNUZ, 1), 0x1p-10);
  EXPECT_EQ(decode(DLC_F8E5M2, 1), 0x1p-16);
}

TEST(SmallFloat, RoundsTiesToEven) {
  EXPECT_EQ(encode(DLC_F16, 1 + 0x1p-11), encode(DLC_F16, 1));
  EXPECT_EQ(encode(DLC_F16, 1 + 3 * 0x1p-11), encode(DLC_F16, 1 + 0x1p-9));
  EXPECT_EQ(encode(DLC_F16, 2 - 0x1p-11), encode(DLC_F16, 2)); // the carry changes the exponent
  EXPECT_EQ(encode(DLC_F16, 0x1p-25), 0u);
  EXPECT_EQ(encode(DLC_F16, 0x1.8p-25), 1u);
}

TEST(SmallFloat, TooLarge) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(decode(DLC_F16, encode(DLC_F16, 65519)), 65504);
  EXPECT_EQ(decode(DLC_F16, encode(DLC_F16, 65520)), infinity);
  EXPECT_EQ(decode(DLC_F8E5M2, encode(DLC_F8E5M2, -infinity)), -infinity);
  EXPECT_TRUE(std::isnan(decode(DLC_F8E4M3FN, encode(DLC_F8E4M3FN, 1000))));
  EXPECT_TRUE(std::isnan(decode(DLC_F8E4M3FNUZ, encode(DLC_F8E4M3FNUZ, infinity))));
}

TEST(SmallFloat, NoNegativeZeroInUnsignedZeroFormats) {
  EXPECT_EQ(encode(DLC_F8E4M3FNUZ, -0.0), 0u);
  EXPECT_EQ(encode(DLC_F16, -0.0), 0x8000u);
}

} // namespace
