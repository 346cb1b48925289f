// The simulated device through its driver functions, for tests that write PTX.

#ifndef DLC_TEST_CUDASIM_SIMULATOR_H
#define DLC_TEST_CUDASIM_SIMULATOR_H

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>
#include <vector>

namespace dlc::sim {

using Pointer = unsigned long long;

class Simulator : public testing::Test {
protected:
  template <class... Args> int call(const char *name, Args... args) {
    static void *library = dlopen(CUDASIM, RTLD_NOW | RTLD_LOCAL);
    auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
    return function ? function(args...) : -1;
  }
  std::string report() {
    static void *library = dlopen(CUDASIM, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<const char *(*)()>(dlsym(library, "dlcsimGetReport"))();
  }
  void SetUp() override {
    ASSERT_EQ(call("cuInit", 0u), 0);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);
    ASSERT_EQ(call("cuCtxSetCurrent", context), 0);
    call("dlcsimClearReport");
  }
  void TearDown() override { call("cuDevicePrimaryCtxRelease_v2", 0); }

  Pointer allocate(size_t bytes) {
    Pointer pointer = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &pointer, bytes), 0);
    return pointer;
  }
  /// %rd1: the argument; %r1: the thread; %rd3: its word of the argument; %r4: of shared memory.
  int load(const std::string &body) {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                       ".reg .pred %p<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
                       ".shared .align 4 .b8 s[512];\n"
                       "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
                       "add.s64 %rd3, %rd1, %rd2;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\n" +
                       body + "\nret;\n}\n";
    return call("cuModuleLoadData", &module, static_cast<const void *>(text.c_str()));
  }
  int launch(const std::string &body, Pointer argument, unsigned threads, void *stream) {
    EXPECT_EQ(load(body), 0) << report();
    void *function = nullptr, *args[] = {&argument};
    EXPECT_EQ(call("cuModuleGetFunction", &function, module, "k"), 0);
    return call("cuLaunchKernel", function, 1u, 1u, 1u, threads, 1u, 1u, 0u, stream,
                static_cast<void **>(args), static_cast<void **>(nullptr));
  }
  int run(const std::string &body, Pointer argument, unsigned threads) {
    int code = launch(body, argument, threads, nullptr);
    return code ? code : call("cuCtxSynchronize");
  }
  void *makeStream(unsigned flags) {
    void *stream = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &stream, flags), 0);
    return stream;
  }
  void expectReport(const char *text) { EXPECT_NE(report().find(text), std::string::npos) << report(); }

  void *context = nullptr, *module = nullptr;
};

} // namespace dlc::sim

#endif // DLC_TEST_CUDASIM_SIMULATOR_H
