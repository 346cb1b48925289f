// The most f32 arithmetic one core can do: independent fused multiply-adds that
// stay in registers, with the widest vectors the machine has. Kernels are judged
// as a share of this figure, measured in the same minute.

#include <benchmark/benchmark.h>

#include <immintrin.h>

namespace {

constexpr int kChains = 12; // latency 4 x 2 units, and some to spare
constexpr int kRepeats = 1000;

__attribute__((target("avx512f"))) float fmaAvx512() {
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
  __m512 total = sums[0];
  for (int i = 1; i < kChains; ++i)
    total = _mm512_add_ps(total, sums[i]);
  return _mm512_reduce_add_ps(total);
}

__attribute__((target("avx2,fma"))) float fmaAvx2() {
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
  __m256 total = sums[0];
  for (int i = 1; i < kChains; ++i)
    total = _mm256_add_ps(total, sums[i]);
  float lanes[8];
  _mm256_storeu_ps(lanes, total);
  return lanes[0];
}

void peakF32(benchmark::State &state) {
  bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !__builtin_cpu_supports("fma")) {
    state.SkipWithError("the CPU has no fused multiply-add");
    return;
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(wide ? fmaAvx512() : fmaAvx2());
  double flops = 2.0 * kChains * kRepeats * (wide ? 16 : 8);
  state.counters["gflops"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peakF32)->Name("peak_f32")->Repetitions(5);

} // namespace
