// The order of samples and the random numbers.

#include "runtime/data/Order.h"
#include "runtime/data/Philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace dlc::data;

namespace {

std::vector<uint64_t> epochOf(const Order &order, uint64_t epoch) {
  std::vector<uint64_t> all;
  for (uint64_t i = 0; i < order.samplesPerEpoch(); ++i)
    all.push_back(order.index(epoch, i));
  return all;
}

bool isPermutation(std::vector<uint64_t> numbers) {
  std::ranges::sort(numbers);
  for (uint64_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != i)
      return false;
  return true;
}

LoaderOptions with(Shuffle shuffle, uint64_t seed = 1, uint64_t window = 8) {
  LoaderOptions options;
  options.shuffle = shuffle;
  options.seed = seed;
  options.window = window;
  return options;
}

// The authors' known answers (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UniformAndBelow) {
  Random random(1, 2, 3);
  double sum = 0, squares = 0;
  constexpr int draws = 20000;
  std::array<int, 7> counts = {};
  for (int i = 0; i < draws; ++i) {
    double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    squares += value * value;
    ++counts[random.below(7)];
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.01);
  EXPECT_NEAR(squares / draws, 1.0 / 3, 0.01);
  for (int count : counts)
    EXPECT_NEAR(count, draws / 7.0, 5 * std::sqrt(draws / 7.0));
  EXPECT_NE(Random(1, 2, 3).bits(), Random(1, 2, 4).bits());
  EXPECT_NE(Random(1, 2, 3).bits(), Random(1, 3, 3).bits());
  EXPECT_NE(Random(1, 2, 3).bits(), Random(2, 2, 3).bits());
}

TEST(Order, EveryShuffleIsAPermutation) {
  for (Shuffle shuffle : {Shuffle::None, Shuffle::Full, Shuffle::Windowed})
    for (uint64_t size : {1, 2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 1000, 4099})
      for (uint64_t epoch : {0, 1, 5})
        EXPECT_TRUE(isPermutation(epochOf(Order(size, with(shuffle)), epoch)))
            << int(shuffle) << " of " << size;
}

TEST(Order, SeedsAndEpochsDiffer) {
  for (Shuffle shuffle : {Shuffle::Full, Shuffle::Windowed}) {
    Order one(1000, with(shuffle, 1)), same(1000, with(shuffle, 1)), two(1000, with(shuffle, 2));
    EXPECT_EQ(epochOf(one, 3), epochOf(same, 3));
    EXPECT_NE(epochOf(one, 3), epochOf(one, 4));
    EXPECT_NE(epochOf(one, 3), epochOf(two, 3));
  }
}

// Each position should see each index equally often over many seeds.
TEST(Order, FullShuffleIsFair) {
  constexpr uint64_t size = 10, seeds = 20000;
  std::array<std::array<int, size>, size> counts = {};
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Order order(size, with(Shuffle::Full, seed));
    for (uint64_t i = 0; i < size; ++i)
      ++counts[i][order.index(0, i)];
  }
  double expected = double(seeds) / size, chi = 0;
  for (auto &row : counts)
    for (int count : row)
      chi += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi, 81 + 5 * std::sqrt(2 * 81)); // 81 degrees of freedom, five deviations
}

TEST(Order, AWindowKeepsNeighboursTogether) {
  constexpr uint64_t window = 8, size = 803;
  Order order(size, with(Shuffle::Windowed, 5, window));
  for (uint64_t block = 0; block < size / window; ++block) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < window; ++i)
      seen.insert(order.index(2, block * window + i));
    bool wraps = seen.contains(0) && seen.contains(size - 1);
    if (!wraps) {
      EXPECT_EQ(*seen.rbegin() - *seen.begin(), window - 1) << block;
    }
  }
}

TEST(Order, RanksShareOneOrder) {
  for (ShardTail tail : {ShardTail::Drop, ShardTail::Wrap, ShardTail::Keep}) {
    LoaderOptions options = with(Shuffle::Full, 9);
    options.shardTail = tail;
    options.ranks = 4;
    std::multiset<uint64_t> seen;
    for (options.rank = 0; options.rank < 4; ++options.rank) {
      Order order(103, options);
      uint64_t expected = tail == ShardTail::Drop   ? 25
                          : tail == ShardTail::Wrap ? 26
                                                    : 25 + (options.rank < 3);
      EXPECT_EQ(order.samplesPerEpoch(), expected);
      for (uint64_t index : epochOf(order, 0))
        seen.insert(index);
    }
    std::set<uint64_t> distinct(seen.begin(), seen.end());
    EXPECT_EQ(seen.size(), tail == ShardTail::Drop ? 100u : tail == ShardTail::Wrap ? 104u : 103u);
    EXPECT_EQ(distinct.size(), tail == ShardTail::Drop ? 100u : 103u);
  }
}

TEST(Order, Batches) {
  LoaderOptions options;
  options.batchSize = 8;
  Order all(20, options);
  EXPECT_EQ(all.batchesPerEpoch(), 3u);
  EXPECT_EQ(all.samplesOf(2), 4u);
  options.dropLast = true;
  EXPECT_EQ(Order(20, options).batchesPerEpoch(), 2u);
}

} // namespace
