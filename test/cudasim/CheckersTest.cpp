// The simulated device through its driver functions: a kernel that is right, and one
// with each fault that the checkers know.

#include "test/cudasim/Simulator.h"

namespace dlc::sim {
namespace {

TEST_F(Simulator, StoresAndReadsBack) {
  Pointer memory = allocate(256);
  ASSERT_EQ(run("st.global.u32 [%rd3], %r1;", memory, 64), 0) << report();
  std::vector<unsigned> result(64);
  ASSERT_EQ(call("cuMemcpyDtoH_v2", static_cast<void *>(result.data()), memory, size_t(256)), 0);
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(result[i], i);
  EXPECT_EQ(call("cuMemFree_v2", memory), 0);
}

TEST_F(Simulator, OutOfBounds) {
  EXPECT_EQ(run("st.global.u32 [%rd3], %r1;", allocate(252), 64), 700);
  expectReport("invalid global memory write");
  Pointer other = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &other, size_t(4)), 700) << "errors stay";
}

TEST_F(Simulator, Misaligned) {
  EXPECT_EQ(run("st.global.u32 [%rd3+2], %r1;", allocate(256), 32), 716);
  expectReport("misaligned");
}

TEST_F(Simulator, UninitialisedDeviceMemory) {
  EXPECT_EQ(run("ld.global.u32 %r5, [%rd3];", allocate(256), 32), 719);
  expectReport("uninitialised global memory read");
}

TEST_F(Simulator, UninitialisedSharedMemory) {
  EXPECT_EQ(run("ld.shared.u32 %r5, [%r4];", allocate(256), 32), 719);
  expectReport("uninitialised shared memory read");
}

TEST_F(Simulator, UseAfterFree) {
  Pointer memory = allocate(256);
  ASSERT_EQ(call("cuMemFree_v2", memory), 0);
  EXPECT_EQ(run("st.global.u32 [%rd3], %r1;", memory, 32), 700);
  expectReport("use after free");
}

TEST_F(Simulator, SharedMemoryRace) {
  auto body = [](const char *barrier) {
    return std::string("st.shared.u32 [%r4], %r1;\nbar.sync 0;\nst.shared.u32 [%r4], %r1;\n") + barrier +
           "\nxor.b32 %r5, %r4, 128;\nld.shared.u32 %r6, [%r5];";
  };
  EXPECT_EQ(run(body("bar.sync 0;"), allocate(4), 64), 0) << report();
  EXPECT_EQ(run(body(""), allocate(4), 64), 719);
  expectReport("shared memory race");
}

TEST_F(Simulator, DivergentBarrier) {
  EXPECT_EQ(run("setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.sync 0;", allocate(4), 32), 719);
  expectReport("divergent barrier");
}

constexpr unsigned kNonBlocking = 1;
constexpr const char *kStore = "st.global.u32 [%rd3], %r1;", *kLoad = "ld.global.u32 %r5, [%rd3];";

TEST_F(Simulator, OtherStreamsWriteIsNotWaitedFor) {
  Pointer memory = allocate(256);
  void *first = makeStream(kNonBlocking), *second = makeStream(kNonBlocking);
  EXPECT_EQ(launch(kStore, memory, 32, first), 0);
  EXPECT_EQ(launch(kLoad, memory, 32, second), 0);
  EXPECT_EQ(call("cuCtxSynchronize"), 719);
  expectReport("global memory read of 4 bytes is not ordered after the write of kernel k in stream");
}

TEST_F(Simulator, OtherStreamsReadIsNotWaitedFor) {
  Pointer memory = allocate(256);
  ASSERT_EQ(run(kStore, memory, 32), 0) << report();
  void *first = makeStream(kNonBlocking), *second = makeStream(kNonBlocking);
  EXPECT_EQ(launch(kLoad, memory, 32, first), 0);
  EXPECT_EQ(call("cuMemsetD32Async", memory + 64, 0u, size_t(1), second), 0);
  EXPECT_EQ(call("cuCtxSynchronize"), 719);
  expectReport("fill of 4 bytes is not ordered after the read of kernel k in stream");
}

TEST_F(Simulator, AsynchronousCopyIsNotWaitedFor) {
  Pointer memory = allocate(256);
  void *host = nullptr, *first = makeStream(kNonBlocking), *second = makeStream(kNonBlocking);
  ASSERT_EQ(call("cuMemHostAlloc", &host, size_t(256), 0u), 0);
  EXPECT_EQ(call("cuMemcpyHtoDAsync_v2", memory, static_cast<const void *>(host), size_t(256), first), 0);
  EXPECT_EQ(launch(kLoad, memory, 32, second), 0);
  EXPECT_EQ(call("cuCtxSynchronize"), 719);
  expectReport("is not ordered after the write of copy to the device in stream");
}

TEST_F(Simulator, StreamsInOrder) {
  Pointer memory = allocate(256);
  void *first = makeStream(kNonBlocking), *second = makeStream(kNonBlocking), *event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0u), 0);
  // By an event, on to a third piece of work through the second stream.
  EXPECT_EQ(launch(kStore, memory, 32, first), 0);
  EXPECT_EQ(call("cuEventRecord", event, first), 0);
  EXPECT_EQ(call("cuStreamWaitEvent", second, event, 0u), 0);
  EXPECT_EQ(launch(kLoad, memory, 32, second), 0);
  EXPECT_EQ(call("cuEventRecord", event, second), 0);
  EXPECT_EQ(call("cuStreamWaitEvent", first, event, 0u), 0);
  EXPECT_EQ(launch(kStore, memory, 32, first), 0);
  // By the host.
  EXPECT_EQ(call("cuStreamSynchronize", first), 0);
  EXPECT_EQ(launch(kLoad, memory, 32, second), 0);
  // Other bytes need no order, reads beside reads neither.
  EXPECT_EQ(launch(kLoad, memory, 16, first), 0);
  EXPECT_EQ(call("cuMemsetD8Async", memory + 128, static_cast<unsigned char>(0), size_t(128), first), 0);
  EXPECT_EQ(call("cuCtxSynchronize"), 0) << report();
  // The default stream and one that blocks wait for each other.
  void *blocking = makeStream(0);
  EXPECT_EQ(launch(kStore, memory, 32, blocking), 0);
  EXPECT_EQ(launch(kLoad, memory, 32, nullptr), 0);
  EXPECT_EQ(launch(kStore, memory, 32, blocking), 0);
  EXPECT_EQ(call("cuCtxSynchronize"), 0) << report();
  EXPECT_EQ(report(), "");
}

TEST_F(Simulator, Leak) {
  allocate(100);
  call("cuDevicePrimaryCtxReset_v2", 0);
  expectReport("leak: 1 allocations, 100 bytes");
}

TEST_F(Simulator, UnknownInstructionsAreRefused) {
  EXPECT_EQ(load("add.frob.s32 %r1, %r1, 1;"), 218);
  expectReport("line 18: add.frob.s32: modifier .frob is not simulated");
  EXPECT_EQ(load("frobnicate.s32 %r1;"), 218);
  expectReport("frobnicate");
}

} // namespace
} // namespace dlc::sim
