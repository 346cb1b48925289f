// The assembler's log, as ptxas 13.0 prints it.

#include "compiler/targets/cuda/Resources.h"

#include <gtest/gtest.h>

namespace {

const char *const kLog = "ptxas info    : 0 bytes gmem\n"
                         "ptxas info    : Compiling entry function 'b' for 'sm_90'\n"
                         "ptxas info    : Function properties for b\n"
                         "ptxas         .     264 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                         "ptxas info    : Used 255 registers, used 0 barriers\n"
                         "ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
                         "ptxas info    : Function properties for a\n"
                         "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                         "ptxas info    : Used 14 registers, used 1 barriers, 8704 bytes smem\n"
                         "ptxas info    : Compile time = 1.352 ms\n";

std::vector<dlc::DeviceLaunch> launches(std::initializer_list<const char *> names) {
  std::vector<dlc::DeviceLaunch> result;
  for (const char *name : names)
    result.emplace_back().function = name;
  return result;
}

TEST(Resources, AreThoseOfEachLaunch) {
  auto found = dlc::cuda::readResources(kLog, launches({"a", "b", "a"}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].registers(), 14u);
  EXPECT_EQ(found[0].shared_bytes(), 8704u);
  EXPECT_EQ(found[0].spill_bytes(), 0u);
  EXPECT_EQ(found[1].registers(), 255u);
  EXPECT_EQ(found[1].stack_bytes(), 264u);
  EXPECT_EQ(found[1].spill_bytes(), 20u);
  EXPECT_EQ(found[2].registers(), 14u);
}

TEST(Resources, NothingIsToldOfUnknownFunctions) {
  EXPECT_TRUE(dlc::cuda::readResources(kLog, launches({"a", "c"})).empty());
  EXPECT_TRUE(dlc::cuda::readResources("", launches({"a"})).empty());
}

} // namespace
