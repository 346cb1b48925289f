// The comparison that decides pass or fail: every guard once from either side.

#include "runtime/tools/dlc/Compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace dlc::cli;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor vectorOf(dlc_type type, std::initializer_list<double> values) {
  Tensor tensor = makeTensor(type, {static_cast<int64_t>(values.size())}, "test");
  int64_t index = 0;
  for (double value : values)
    setElement(*tensor, index++, value);
  return tensor;
}

Comparison compare(dlc_type type, std::initializer_list<double> expected,
                   std::initializer_list<double> got, Tolerance tolerance = {0.5, 0.25}) {
  return compareTensors("y", *vectorOf(type, expected), *vectorOf(type, got), tolerance);
}

TEST(Compare, ToleranceIsRelativeToTheExpectedValue) {
  EXPECT_TRUE(compare(DLC_F32, {4}, {6.25}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {4}, {6.5}).agrees());
  EXPECT_TRUE(compare(DLC_F32, {0}, {0.25}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {0}, {0.5}).agrees());
}

TEST(Compare, Bf16HasALeastTolerance) {
  Tolerance strict{0, 0, 0x1p-6};
  EXPECT_TRUE(compare(DLC_BF16, {1}, {1 + 0x1p-6}, strict).agrees());
  EXPECT_FALSE(compare(DLC_BF16, {1}, {1 + 0x1p-5}, strict).agrees());
  EXPECT_FALSE(compare(DLC_F32, {1}, {1 + 0x1p-6}, strict).agrees());
  strict.leastBf16Relative = 0;
  EXPECT_FALSE(compare(DLC_BF16, {1}, {1 + 0x1p-7}, strict).agrees());
}

TEST(Compare, NaNAndInfinity) {
  EXPECT_TRUE(compare(DLC_F32, {NAN, kInfinity, -kInfinity}, {NAN, kInfinity, -kInfinity}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {NAN}, {0}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {0}, {NAN}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {kInfinity}, {1e30}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {1}, {kInfinity}).agrees());
  EXPECT_FALSE(compare(DLC_F32, {kInfinity}, {-kInfinity}).agrees());
}

TEST(Compare, IntegersAndBoolsMustBeEqual) {
  EXPECT_TRUE(compare(DLC_I32, {7}, {7}).agrees());
  EXPECT_FALSE(compare(DLC_I32, {1000000}, {1000001}).agrees());
  EXPECT_FALSE(compare(DLC_BOOL, {1}, {0}).agrees());
  EXPECT_FALSE(compare(DLC_I4, {-8}, {7}).agrees());
}

TEST(Compare, LargeIntegersThatDoublesCannotTellApart) {
  Tensor a = makeTensor(DLC_I64, {1}, "a"), b = makeTensor(DLC_I64, {1}, "b");
  *static_cast<int64_t *>(dlc_tensor_data(a.get())) = (int64_t(1) << 62) + 1;
  *static_cast<int64_t *>(dlc_tensor_data(b.get())) = int64_t(1) << 62;
  Comparison result = compareTensors("y", *a, *b, {});
  EXPECT_EQ(result.wrong, 1);
  EXPECT_EQ(result.expected, "4611686018427387905");
}

TEST(Compare, NamesTheWorstElement) {
  Comparison result = compare(DLC_F32, {1, 1, 1}, {3, 9, 4});
  EXPECT_EQ(result.wrong, 3);
  EXPECT_EQ(comparisonText(result), "'y': 3 of 3 differ, worst at [1]: expected 1, got 9");
}

TEST(Compare, ShapesAndTypes) {
  EXPECT_FALSE(compare(DLC_F32, {1, 2}, {1}).agrees());
  Comparison result = compareTensors("y", *vectorOf(DLC_F32, {1}), *vectorOf(DLC_F64, {1}), {});
  EXPECT_EQ(comparisonText(result), "'y': expected f32[1], got f64[1]");
}

TEST(Compare, EmptyTensorsAgree) {
  Comparison result = compare(DLC_F32, {}, {});
  EXPECT_TRUE(result.agrees());
  EXPECT_EQ(result.count, 0);
}

} // namespace
