// The most this machine can do, measured: what a benchmark's figures are shares of.

#ifndef DLC_RUNTIME_TOOLS_DLC_PEAK_H
#define DLC_RUNTIME_TOOLS_DLC_PEAK_H

namespace dlc::cli {

/// f32 fused multiply-adds in registers on `threads` threads at once, with the
/// widest vectors there are, in GFLOP/s; the best of several tries. 0: no FMA.
double measurePeakGflops(int threads);

/// Bytes per second of reading memory far larger than the caches, in GB/s.
double measureReadGbPerS(int threads, long long cacheBytes);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_PEAK_H
