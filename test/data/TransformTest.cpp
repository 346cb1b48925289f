// Transforms: what they compute, and what they refuse.

#include "test/data/DataTest.h"

#include <cmath>
#include <cstring>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

template <typename T> std::vector<T> numbers(const Value &value) {
  return {value.as<T>(), value.as<T>() + value.bytes().size() / sizeof(T)};
}

/// A sample of one field "x".
template <typename T> Sample sampleOf(dlc_type type, std::vector<int64_t> dims, std::vector<T> values) {
  Sample sample;
  sample.values.resize(1);
  std::memcpy(sample.values[0].prepare(type, dims), values.data(), values.size() * sizeof(T));
  sample.values[0].commit();
  return sample;
}

/// Binds for the sample's own sizes and applies; checks that what comes out is as bound.
Status applied(const TransformPtr &transform, Sample &sample, uint64_t draw = 0) {
  Value &x = sample.values[0];
  std::vector<FieldSpec> fields = {{"x", x.type(), {x.dims().begin(), x.dims().end()}}};
  if (Status status = transform->bind(fields))
    return status;
  Random random(1, 0, draw);
  if (Status status = transform->apply(sample, random))
    return status;
  EXPECT_EQ(x.type(), fields[0].type);
  EXPECT_TRUE(std::ranges::equal(x.dims(), fields[0].dims));
  return Status();
}

Sample image(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> levels(height * width * channels);
  for (size_t i = 0; i < levels.size(); ++i)
    levels[i] = static_cast<uint8_t>(i * 7 + i * i / 11);
  return sampleOf(DLC_U8, {height, width, channels}, levels);
}

/// The definition: a triangle filter in each direction, in double.
std::vector<double> resized(const Sample &sample, int64_t height, int64_t width) {
  auto dims = sample.values[0].dims();
  auto weight = [](double from, double to, int64_t s, int64_t t) {
    double reach = std::max(from / to, 1.0);
    return std::max(0.0, 1 - std::fabs(double(s) + 0.5 - (double(t) + 0.5) * from / to) / reach);
  };
  std::vector<double> out;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < dims[2]; ++c) {
        double sum = 0, weights = 0;
        for (int64_t sy = 0; sy < dims[0]; ++sy)
          for (int64_t sx = 0; sx < dims[1]; ++sx) {
            double w = weight(double(dims[0]), double(height), sy, y) * weight(double(dims[1]), double(width), sx, x);
            sum += w * sample.values[0].as<uint8_t>()[(sy * dims[1] + sx) * dims[2] + c];
            weights += w;
          }
        out.push_back(sum / weights);
      }
  return out;
}

TEST(Resize, IsATriangleFilter) {
  for (int64_t channels : {1, 2, 3, 4})
    for (auto [h, w, toH, toW] : {std::array{5, 7, 9, 4}, {16, 16, 8, 8}, {1, 1, 3, 3}, {13, 5, 1, 1}, {6, 6, 6, 11}}) {
      Sample sample = image(h, w, channels);
      std::vector<double> expected = resized(sample, toH, toW);
      ASSERT_OK(applied(resize("x", toH, toW), sample));
      std::vector<uint8_t> got = numbers<uint8_t>(sample.values[0]);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], expected[i], 0.5001) << i << " of " << h << "x" << w << " to " << toH << "x" << toW;
    }
}

TEST(Resize, WhiteStaysWhite) {
  for (int side : {1, 2, 3, 7, 50, 61}) {
    Sample sample = sampleOf(DLC_U8, {20, 30, 3}, std::vector<uint8_t>(1800, 255));
    ASSERT_OK(applied(resize("x", side, side + 1), sample));
    for (uint8_t level : numbers<uint8_t>(sample.values[0]))
      ASSERT_EQ(level, 255);
  }
}

TEST(Resize, FloatsAndShorterSide) {
  Sample floats = sampleOf<float>(DLC_F32, {2, 2}, {0, 1, 2, 3});
  ASSERT_OK(applied(resize("x", 1, 1), floats));
  EXPECT_EQ(numbers<float>(floats.values[0]), std::vector<float>{1.5f});
  Sample wide = image(20, 50, 3);
  ASSERT_OK(applied(resizeShorter("x", 8), wide));
  EXPECT_EQ(wide.values[0].dims()[0], 8);
  EXPECT_EQ(wide.values[0].dims()[1], 20);
}

TEST(Crop, CentreAndRandom) {
  Sample sample = image(6, 8, 1);
  std::vector<uint8_t> whole = numbers<uint8_t>(sample.values[0]);
  ASSERT_OK(applied(centerCrop("x", 2, 4), sample));
  EXPECT_EQ(numbers<uint8_t>(sample.values[0])[0], whole[2 * 8 + 2]);
  EXPECT_EQ(numbers<uint8_t>(sample.values[0])[7], whole[3 * 8 + 5]);
  Sample small = image(3, 3, 1);
  EXPECT_FAILS(applied(centerCrop("x", 4, 3), small), "smaller than 4 x 3");
  EXPECT_FAILS(applied(randomCrop("x", 6, 3, 1), small), "smaller than 6 x 3");
}

TEST(Crop, RandomWithPaddingIsAWindowOfThePaddedImage) {
  std::set<std::vector<uint8_t>> seen;
  for (uint64_t draw = 0; draw < 300; ++draw) {
    Sample sample = sampleOf<uint8_t>(DLC_U8, {2, 2, 1}, {1, 2, 3, 4});
    ASSERT_OK(applied(randomCrop("x", 2, 2, 1), sample, draw));
    seen.insert(numbers<uint8_t>(sample.values[0]));
  }
  std::set<std::vector<uint8_t>> expected = {{0, 0, 0, 1}, {0, 0, 1, 2}, {0, 0, 2, 0}, {0, 1, 0, 3}, {1, 2, 3, 4},
                                             {2, 0, 4, 0}, {0, 3, 0, 0}, {3, 4, 0, 0}, {4, 0, 0, 0}};
  EXPECT_EQ(seen, expected);
}

TEST(Crop, RandomResizedStaysInsideAndVaries) {
  std::set<std::vector<uint8_t>> seen;
  for (auto [h, w] : {std::array{10, 12}, {1, 40}, {40, 1}, {1, 1}})
    for (uint64_t draw = 0; draw < 50; ++draw) {
      Sample sample = image(h, w, 3);
      ASSERT_OK(applied(randomResizedCrop("x", 4, 5), sample, draw));
      seen.insert(numbers<uint8_t>(sample.values[0]));
    }
  EXPECT_GT(seen.size(), 40u);
  Sample sample = image(4, 4, 3);
  EXPECT_FAILS(applied(randomResizedCrop("x", 4, 4, {0, 1, 1, 1}), sample), "areas of 0");
}

TEST(Flip, MirrorsOrNot) {
  int flipped = 0;
  for (uint64_t draw = 0; draw < 400; ++draw) {
    Sample sample = sampleOf<uint8_t>(DLC_U8, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
    ASSERT_OK(applied(randomFlip("x", 0.25), sample, draw));
    bool turned = numbers<uint8_t>(sample.values[0]) == std::vector<uint8_t>{4, 5, 6, 1, 2, 3};
    EXPECT_TRUE(turned || numbers<uint8_t>(sample.values[0])[0] == 1);
    flipped += turned;
  }
  EXPECT_NEAR(flipped, 100, 45);
}

TEST(Color, NormalizeIsTheSameForBytesAndFloats) {
  Sample bytes = sampleOf<uint8_t>(DLC_U8, {1, 2, 2}, {0, 255, 51, 102});
  ASSERT_OK(applied(normalize("x", {0.5, 0.25}, {0.5, 2}), bytes));
  std::vector<float> got = numbers<float>(bytes.values[0]);
  EXPECT_EQ(got[0], -1);
  EXPECT_EQ(got[1], 0.375f);
  EXPECT_FLOAT_EQ(got[2], -0.6f);
  EXPECT_FLOAT_EQ(got[3], 0.075f);
  Sample floats = sampleOf<float>(DLC_F32, {1, 2, 1}, {1, 3});
  ASSERT_OK(applied(normalize("x", {1}, {2}), floats));
  EXPECT_EQ(numbers<float>(floats.values[0]), (std::vector<float>{0, 1}));
  EXPECT_FAILS(applied(normalize("x", {1, 2, 3}, {2}), floats), "3 means for 1 channels");
  EXPECT_FAILS(applied(normalize("x", {1}, {0}), floats), "a deviation of 0");
}

TEST(Color, JitterOfZeroChangesNothingAndGrayStaysGray) {
  Sample same = image(4, 5, 3);
  std::vector<uint8_t> before = numbers<uint8_t>(same.values[0]);
  ASSERT_OK(applied(colorJitter("x", {}), same));
  EXPECT_EQ(numbers<uint8_t>(same.values[0]), before);
  for (uint64_t draw = 0; draw < 20; ++draw) {
    Sample gray = sampleOf<uint8_t>(DLC_U8, {1, 2, 3}, {100, 100, 100, 30, 30, 30});
    ASSERT_OK(applied(colorJitter("x", {0, 0, 0.9, 0.5}), gray, draw)); // hue and saturation leave grays
    std::vector<uint8_t> got = numbers<uint8_t>(gray.values[0]);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], i < 3 ? 100 : 30, 1);
  }
  Sample flat = image(4, 5, 1);
  EXPECT_FAILS(applied(colorJitter("x", {0.1, 0, 0, 0}), flat), "no u8 image of three channels");
}

TEST(Color, BrightnessIsAFactor) {
  std::set<int> seen;
  for (uint64_t draw = 0; draw < 50; ++draw) {
    Sample sample = sampleOf<uint8_t>(DLC_U8, {1, 1, 3}, {50, 100, 200});
    ASSERT_OK(applied(colorJitter("x", {0.5, 0, 0, 0}), sample, draw));
    std::vector<uint8_t> got = numbers<uint8_t>(sample.values[0]);
    EXPECT_GE(got[0], 25);
    EXPECT_LE(got[0], 75);
    EXPECT_NEAR(got[1], 2 * got[0], 2);
    seen.insert(got[0]);
  }
  EXPECT_GT(seen.size(), 15u);
}

TEST(Color, GrayAndChannelsFirst) {
  Sample sample = sampleOf<uint8_t>(DLC_U8, {1, 2, 3}, {255, 0, 0, 10, 20, 30});
  Sample planes = sampleOf<uint8_t>(DLC_U8, {1, 2, 3}, {255, 0, 0, 10, 20, 30});
  ASSERT_OK(applied(toGray("x"), sample));
  EXPECT_EQ(numbers<uint8_t>(sample.values[0]), (std::vector<uint8_t>{76, 18}));
  ASSERT_OK(applied(channelsFirst("x"), planes));
  EXPECT_EQ(numbers<uint8_t>(planes.values[0]), (std::vector<uint8_t>{255, 10, 0, 20, 0, 30}));
}

TEST(Elements, CastRefusesWhatDoesNotFit) {
  Sample labels = sampleOf<uint8_t>(DLC_U8, {3}, {0, 7, 255});
  ASSERT_OK(applied(cast("x", DLC_I64), labels));
  EXPECT_EQ(numbers<int64_t>(labels.values[0]), (std::vector<int64_t>{0, 7, 255}));
  EXPECT_FAILS(applied(cast("x", DLC_I8), labels), "element 2 is 255, which does not fit i8");
  Sample floats = sampleOf<float>(DLC_F32, {2}, {-0.75f, 255.9f});
  ASSERT_OK(applied(cast("x", DLC_U8), floats));
  EXPECT_EQ(numbers<uint8_t>(floats.values[0]), (std::vector<uint8_t>{0, 255}));
  for (float value : {-1.0f, 256.0f, NAN, INFINITY}) {
    Sample wrong = sampleOf<float>(DLC_F32, {1}, {value});
    EXPECT_FAILS(applied(cast("x", DLC_U8), wrong), "does not fit u8");
  }
  Sample half = sampleOf<float>(DLC_F32, {2}, {1.0f, -2.5f});
  ASSERT_OK(applied(cast("x", DLC_F16), half));
  EXPECT_EQ(numbers<uint16_t>(half.values[0]), (std::vector<uint16_t>{0x3c00, 0xc100}));
  Sample most = sampleOf<double>(DLC_F64, {1}, {9223372036854775808.0});
  EXPECT_FAILS(applied(cast("x", DLC_I64), most), "does not fit");
}

TEST(Elements, OneHotPadReshape) {
  Sample labels = sampleOf<int64_t>(DLC_I64, {2}, {2, 0});
  ASSERT_OK(applied(oneHot("x", 3), labels));
  EXPECT_EQ(numbers<float>(labels.values[0]), (std::vector<float>{0, 0, 1, 1, 0, 0}));
  for (int64_t wrong : {int64_t(-1), int64_t(3), INT64_MIN}) {
    Sample sample = sampleOf<int64_t>(DLC_I64, {}, {wrong});
    EXPECT_FAILS(applied(oneHot("x", 3), sample), "of 3");
  }
  Sample words = sampleOf<int32_t>(DLC_I32, {2, 2}, {1, 2, 3, 4});
  ASSERT_OK(applied(padToLength("x", 3, -1), words));
  EXPECT_EQ(numbers<int32_t>(words.values[0]), (std::vector<int32_t>{1, 2, 3, 4, -1, -1}));
  ASSERT_OK(applied(padToLength("x", 1, 0), words));
  EXPECT_EQ(numbers<int32_t>(words.values[0]), (std::vector<int32_t>{1, 2}));
  ASSERT_OK(applied(reshape("x", {2, 1, 1}), words));
  EXPECT_FAILS(applied(reshape("x", {3}), words), "i32[2,1,1] to i32[3]");
  EXPECT_FAILS(applied(padToLength("x", 3, 1e30), words), "does not fit i32");
}

TEST(Transform, NamesWhatItMisses) {
  Sample sample = image(2, 2, 3);
  EXPECT_FAILS(applied(resize("y", 2, 2), sample), "resize of field 'y': there is no such field; there are x");
  EXPECT_FAILS(applied(resize("x", 0, 2), sample), "a size of 0 x 2");
  Sample vector = sampleOf<float>(DLC_F32, {2}, {1, 2});
  EXPECT_FAILS(applied(randomFlip("x"), vector), "f32[2] is no image");
}

} // namespace
