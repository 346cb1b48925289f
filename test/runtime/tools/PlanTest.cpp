// The memory plan's picture, and what a benchmark says about its figures.

#include "runtime/tools/dlc/Bench.h"
#include "runtime/tools/dlc/MemoryPlan.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace dlc::cli;

namespace {

MemoryPlan twoBuffers() {
  MemoryPlan plan;
  plan.placements = {{"a<1>", "f32[4]", 0, 512, 0, 3}, {"b", "f32[4]", 512, 512, 2, 7}};
  plan.arenaBytes = 1024;
  plan.instructions = 8;
  return plan;
}

TEST(MemoryPicture, BuffersAreRectangles) {
  std::ostringstream os;
  drawPlan(os, twoBuffers());
  std::string text = os.str();
  EXPECT_NE(text.find("0 B |AAAA....|"), std::string::npos) << text;
  EXPECT_NE(text.find("512 B |..BBBBBB|"), std::string::npos) << text;
}

TEST(MemoryPicture, NothingToDraw) {
  std::ostringstream os;
  drawPlan(os, {});
  EXPECT_EQ(os.str(), "");
}

TEST(MemoryPicture, SvgEscapesNames) {
  std::string svg = planSvg(twoBuffers(), "m & n");
  EXPECT_NE(svg.find("a&lt;1&gt; f32[4]"), std::string::npos);
  EXPECT_NE(svg.find("m &amp; n"), std::string::npos);
}

bool says(const BenchResult &result, const char *words) {
  for (const std::string &remark : result.remarks())
    if (remark.find(words) != std::string::npos)
      return true;
  return false;
}

BenchResult quietResult() {
  BenchResult result;
  result.setTimes({10, 10, 10, 10});
  result.peakBeforeGflops = result.peakAfterGflops = 100;
  result.flops = 0.8e9; // 8 ms of 10
  return result;
}

TEST(Bench, MedianAndPercentile) {
  BenchResult result;
  result.setTimes({4, 1, 2, 3, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(result.medianMs, 5.5);
  EXPECT_EQ(result.minMs, 1);
  EXPECT_EQ(result.p90Ms, 10);
  EXPECT_TRUE(says(result, "noisy"));
}

TEST(Bench, WhatLimits) {
  BenchResult result = quietResult();
  EXPECT_DOUBLE_EQ(result.percentOfPeak(), 80);
  EXPECT_TRUE(says(result, "quiet"));
  EXPECT_TRUE(says(result, "compute-bound"));
  result.leastBytes = 90e6;
  result.readGbPerS = 10; // 9 ms of 10
  EXPECT_TRUE(says(result, "memory-bound"));
  result.flops = 0.1e9;
  result.leastBytes = 1e6;
  EXPECT_TRUE(says(result, "neither"));
}

TEST(Bench, ClocksAndQuota) {
  BenchResult result = quietResult();
  EXPECT_FALSE(says(result, "clock"));
  EXPECT_FALSE(says(result, "quota"));
  result.peakAfterGflops = 80;
  result.threads = 4;
  result.quotaCores = 2;
  result.affinityCores = 4;
  EXPECT_TRUE(says(result, "the clock or the machine's load changed by 20%"));
  EXPECT_TRUE(says(result, "use --threads 2"));
}

} // namespace
