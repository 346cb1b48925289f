#include "runtime/tools/dlc/Bench.h"

#include "runtime/tools/dlc/Table.h"

#include <algorithm>
#include <cmath>

namespace dlc::cli {

namespace {

constexpr double kNoisy = 0.1, kClockChange = 0.05;

std::string percent(double share) { return fixed(100 * share, 0) + "%"; }

} // namespace

void BenchResult::setTimes(std::vector<double> timesMs) {
  std::ranges::sort(timesMs);
  runs = static_cast<int64_t>(timesMs.size());
  size_t half = timesMs.size() / 2;
  medianMs = timesMs.size() % 2 ? timesMs[half] : (timesMs[half - 1] + timesMs[half]) / 2;
  minMs = timesMs.front();
  p90Ms = timesMs[std::min(timesMs.size() - 1, timesMs.size() * 9 / 10)];
  noise = medianMs > 0 ? (p90Ms - minMs) / medianMs : 0;
}

double BenchResult::peakGflops() const { return std::max(peakBeforeGflops, peakAfterGflops); }

double BenchResult::percentOfPeak() const {
  return peakGflops() > 0 ? 100 * gflops() / peakGflops() : 0;
}

std::vector<std::string> BenchResult::remarks() const {
  std::vector<std::string> result;
  std::string spread = "from the fastest run to the 90th percentile it is " + percent(noise) + " of the median";
  result.push_back(noise > kNoisy ? "noisy: " + spread + "; close other programs, or go by min_ms"
                                  : "quiet: " + spread);
  double change = peakGflops() > 0 ? std::fabs(peakAfterGflops - peakBeforeGflops) / peakGflops() : 0;
  if (change > kClockChange)
    result.push_back("the clock or the machine's load changed by " + percent(change) + ": " +
                     fixed(peakBeforeGflops, 0) + " GFLOP/s could be done before, " +
                     fixed(peakAfterGflops, 0) + " after");
  if (quotaCores > 0 && threads > quotaCores)
    result.push_back(std::to_string(threads) + " threads over the cgroup's quota of " + general(quotaCores) +
                     " cores: they will be stopped for parts of each period; use --threads " +
                     std::to_string(std::max(1, static_cast<int>(quotaCores))));
  if (threads > affinityCores)
    result.push_back(std::to_string(threads) + " threads on " + std::to_string(affinityCores) +
                     " cores: they take turns");
  result.push_back(limitRemark());
  return result;
}

std::string BenchResult::limitRemark() const {
  if (flops == 0)
    return "the artifact states no arithmetic: neither compute-bound nor memory-bound can be told";
  double computeMs = peakGflops() > 0 ? flops / peakGflops() * 1e-6 : 0;
  double memoryMs = readGbPerS > 0 ? leastBytes / readGbPerS * 1e-6 : 0;
  std::string figures = " (arithmetic alone needs " + fixed(computeMs, 3) + " ms at the measured peak of " +
                        fixed(peakGflops(), 0) + " GFLOP/s";
  if (memoryMs > 0)
    figures += ", reading weights, inputs and outputs once " + fixed(memoryMs, 3) + " ms at " +
               fixed(readGbPerS, 1) + " GB/s";
  else
    figures += "; weights, inputs and outputs fit the cache";
  figures += ")";
  constexpr double most = 0.5;
  double share = std::max(computeMs, memoryMs) / medianMs;
  if (share < most)
    return "neither: memory traffic between kernels, small kernels or overhead take most of the time" + figures;
  return (computeMs >= memoryMs ? "compute-bound" : "memory-bound") + figures;
}

} // namespace dlc::cli
