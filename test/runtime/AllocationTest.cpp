// After the first run of a shape, a run with the caller's outputs allocates nothing.
// Its own program: it replaces the allocator to count.

#include "test/CountingAllocator.h"
#include "test/runtime/RunTest.h"

using namespace dlc::test;
using namespace dlc::schema;

namespace {

/// Allocations of one run after two warm ones; N is symbolic or 100.
long allocationsOfARun(bool symbolic) {
  ModelBuilder a;
  uint32_t n = symbolic ? a.symbol("N", 0, 1000) : a.constant(100);
  uint32_t x = a.input("x", {n}), y = a.output("y", {n});
  uint32_t t = a.arena({n}, symbolic ? -1 : 0, 0, 1);
  uint32_t kernel = a.kernel("scratch", true);
  a.code(KERNELS_1);
  RunTest test(a.build({a.dispatch(kernel, {x, t}, {n}), a.dispatch(kernel, {t, y}, {n})}, symbolic ? 0 : 448));
  std::vector<float> data(100, 1), result(100);
  dlc::Tensor inputs[] = {RunTest::tensor(data)}, outputs[] = {RunTest::tensor(result)};
  long before = 0;
  for (int i = 0; i < 3; ++i) {
    before = allocations;
    dlc::Status status = test.model.run(inputs, outputs);
    EXPECT_EQ(status.code(), DLC_OK);
  }
  long after = allocations;
  EXPECT_EQ(result[99], 3);
  return after - before;
}

TEST(Allocation, TheCounterSeesTheLibrary) {
  long before = allocations;
  dlc::Tensor tensor;
  dlc::Status status = dlc::Tensor::create(DLC_F32, {3}, tensor);
  EXPECT_EQ(allocations - before, 2); // the tensor and its memory
}

TEST(Allocation, NoneInSteadyState) {
  EXPECT_EQ(allocationsOfARun(false), 0);
  EXPECT_EQ(allocationsOfARun(true), 0);
}

} // namespace
