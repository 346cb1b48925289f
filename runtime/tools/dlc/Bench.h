// What a benchmark found, and what to say about it.

#ifndef DLC_RUNTIME_TOOLS_DLC_BENCH_H
#define DLC_RUNTIME_TOOLS_DLC_BENCH_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

struct BenchResult {
  double medianMs = 0, minMs = 0, p90Ms = 0, loadMs = 0;
  double noise = 0; // (p90 - min) / median
  int64_t runs = 0;
  double flops = 0, peakRssMb = 0;
  int threads = 1, affinityCores = 1;
  double quotaCores = 0; // 0: none
  double peakBeforeGflops = 0, peakAfterGflops = 0;
  double leastBytes = 0, cacheBytes = 0, readGbPerS = 0; // 0: not measured

  void setTimes(std::vector<double> timesMs);
  double gflops() const { return medianMs > 0 ? flops / medianMs * 1e-6 : 0; }
  double peakGflops() const;
  double percentOfPeak() const;
  /// Noise, clocks, threads, what limits the speed: a sentence each.
  std::vector<std::string> remarks() const;

private:
  std::string limitRemark() const;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_BENCH_H
