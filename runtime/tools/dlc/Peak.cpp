#include "runtime/tools/dlc/Peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dlc::cli {

namespace {

constexpr int kChains = 12; // latency 4 x 2 units, and some to spare
constexpr int kRepeats = 200000;
constexpr int kTries = 3;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiplyAdd512() {
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i)
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    // Opaque to the optimizer: the chains must really run.
    asm volatile("" : "+v"(x), "+v"(y));
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      sums[i] = _mm512_fmadd_ps(sums[i], x, y);
  }
  for (int i = 0; i < kChains; ++i)
    asm volatile("" ::"v"(sums[i]));
}

__attribute__((target("avx2,fma"))) void multiplyAdd256() {
  __m256 sums[kChains];
  for (int i = 0; i < kChains; ++i)
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    asm volatile("" : "+x"(x), "+x"(y));
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      sums[i] = _mm256_fmadd_ps(sums[i], x, y);
  }
  for (int i = 0; i < kChains; ++i)
    asm volatile("" ::"x"(sums[i]));
}
#endif

/// Seconds until `threads` threads, started together, have all done `work`.
double together(int threads, const std::function<void(int)> &work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back([&, i] {
      ready.fetch_add(1);
      while (!go.load())
        std::this_thread::yield();
      work(i);
    });
  while (ready.load() < threads - 1)
    std::this_thread::yield();
  auto start = std::chrono::steady_clock::now();
  go.store(true);
  work(0);
  for (std::thread &thread : others)
    thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

double measurePeakGflops(int threads) {
  void (*loop)() = nullptr;
  int lanes = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    loop = multiplyAdd512, lanes = 16;
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    loop = multiplyAdd256, lanes = 8;
#endif
  if (!loop)
    return 0;
  double best = 0;
  double flops = 2.0 * kChains * kRepeats * lanes * threads;
  for (int attempt = 0; attempt < kTries; ++attempt)
    best = std::max(best, flops / together(threads, [&](int) { loop(); }));
  return best * 1e-9;
}

double measureReadGbPerS(int threads, long long cacheBytes) {
  constexpr long long least = 64 << 20, most = 512 << 20;
  size_t words = static_cast<size_t>(std::clamp(4 * cacheBytes, least, most)) / sizeof(uint64_t);
  std::unique_ptr<uint64_t[]> memory(new uint64_t[words]);
  std::memset(memory.get(), 1, words * sizeof(uint64_t));
  std::atomic<uint64_t> sink{0};
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    double seconds = together(threads, [&](int index) {
      uint64_t sum = 0;
      for (size_t i = words * index / threads; i < words * (index + 1) / threads; ++i)
        sum += memory[i];
      sink += sum;
    });
    best = std::max(best, static_cast<double>(words * sizeof(uint64_t)) / seconds);
  }
  return best * 1e-9;
}

} // namespace dlc::cli
