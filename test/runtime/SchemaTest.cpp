// What compiler and runtime share: placing buffers, sizes, hashes.

#include "runtime/schema/ArenaPlanner.h"
#include "runtime/schema/ContentHash.h"
#include "runtime/schema/Expr.h"

#include <gtest/gtest.h>

#include <random>

using namespace dlc::schema;

namespace {

void expectSound(const std::vector<ArenaInterval> &intervals, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), intervals.size());
  auto end = [&](size_t i) { return plan.offsets[i] + intervals[i].sizeBytes; };
  for (size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kBufferAlignment, 0);
    EXPECT_LE(end(i), plan.peakBytes);
    for (size_t j = 0; j < i; ++j) {
      bool bothLive = intervals[i].first <= intervals[j].last && intervals[j].first <= intervals[i].last;
      bool overlap = plan.offsets[i] < end(j) && plan.offsets[j] < end(i);
      EXPECT_FALSE(bothLive && overlap) << i << " and " << j;
    }
  }
  EXPECT_GE(plan.peakBytes, plan.lowerBoundBytes);
}

TEST(ArenaPlanner, Nothing) {
  ArenaPlan plan = planArena({});
  EXPECT_EQ(plan.peakBytes, 0);
  EXPECT_EQ(plan.lowerBoundBytes, 0);
}

TEST(ArenaPlanner, ChainNeedsTwoBuffers) {
  std::vector<ArenaInterval> chain;
  for (int i = 0; i < 10; ++i)
    chain.push_back({i, i + 1, 1000});
  ArenaPlan plan = planArena(chain);
  expectSound(chain, plan);
  EXPECT_EQ(plan.peakBytes, 2048);
  EXPECT_EQ(plan.lowerBoundBytes, 2048);
}

TEST(ArenaPlanner, RandomPlansAreSoundAndNearTheBound) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaInterval> intervals;
    for (int i = 0; i < 80; ++i) {
      int64_t first = random() % 100;
      intervals.push_back({first, first + int64_t(random() % 12), int64_t(random() % 5000)});
    }
    ArenaPlan plan = planArena(intervals);
    expectSound(intervals, plan);
    EXPECT_LE(plan.peakBytes, plan.lowerBoundBytes * 3 / 2);
  }
}

TEST(ContentHash, EveryByteAndTheLengthCount) {
  std::string bytes(77, 'x');
  uint64_t hash = contentHash(bytes.data(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    EXPECT_NE(contentHash(bytes.data(), bytes.size()), hash) << i;
    bytes[i] ^= 1;
  }
  EXPECT_NE(contentHash(bytes.data(), 76), hash);
  EXPECT_EQ(contentHash(bytes.data(), 77), hash);
}

/// The value of a postfix expression over the symbols {7, unbound}.
struct Result {
  bool known, overflow;
  int64_t value;
};
Result evaluate(std::vector<ExprStep> steps) {
  flatbuffers::FlatBufferBuilder b;
  b.Finish(CreateExprDirect(b, &steps));
  int64_t symbols[] = {7, 99};
  char isBound[] = {1, 0};
  Result result = {false, false, 0};
  result.known = evaluateExpr(*flatbuffers::GetRoot<Expr>(b.GetBufferPointer()), symbols, isBound,
                              result.value, result.overflow);
  return result;
}
Result apply(ExprCode code, int64_t a, int64_t b) {
  return evaluate({{ExprCode::Const, a}, {ExprCode::Const, b}, {code, 0}});
}

TEST(Expr, Values) {
  EXPECT_EQ(evaluate({{ExprCode::Symbol, 0}, {ExprCode::Const, 2}, {ExprCode::Mul, 0}}).value, 14);
  EXPECT_EQ(apply(ExprCode::FloorDiv, -7, 2).value, -4);
  EXPECT_EQ(apply(ExprCode::CeilDiv, -7, 2).value, -3);
  EXPECT_EQ(apply(ExprCode::CeilDiv, 7, 2).value, 4);
  EXPECT_EQ(apply(ExprCode::Mod, -7, 4).value, 1);
  EXPECT_EQ(apply(ExprCode::Min, -7, 4).value, -7);
  EXPECT_EQ(apply(ExprCode::Max, -7, 4).value, 4);
}

TEST(Expr, UnboundSymbolsAndOverflow) {
  EXPECT_FALSE(evaluate({{ExprCode::Symbol, 1}}).known);
  EXPECT_TRUE(apply(ExprCode::Add, INT64_MAX, 1).overflow);
  EXPECT_TRUE(apply(ExprCode::Mul, INT64_MIN, -1).overflow);
  EXPECT_TRUE(apply(ExprCode::FloorDiv, 1, 0).overflow);
  EXPECT_TRUE(apply(ExprCode::Mod, INT64_MIN, -1).overflow);
  EXPECT_FALSE(apply(ExprCode::FloorDiv, INT64_MIN, 1).overflow);
}

} // namespace
