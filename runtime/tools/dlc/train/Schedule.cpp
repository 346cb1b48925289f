#include "runtime/tools/dlc/train/Schedule.h"

#include <algorithm>
#include <cmath>

namespace dlc::cli {

namespace {

/// Half a cosine from `from` at 0 to `to` at 1.
double halfCosine(double from, double to, double at) {
  return to + (from - to) * (1 + std::cos(M_PI * std::clamp(at, 0.0, 1.0))) / 2;
}

/// Up to the learning rate in the first part of the updates, then down to almost 0.
double oneCycle(const ScheduleOptions &options, double update, double updates) {
  double most = options.learningRate, start = most / options.startDivisor;
  double end = start / options.endDivisor, top = options.rising * updates - 1;
  if (update <= top)
    return halfCosine(start, most, top > 0 ? update / top : 1);
  double rest = updates - 1 - top;
  return halfCosine(most, end, rest > 0 ? (update - top) / rest : 1);
}

} // namespace

double learningRateAt(const ScheduleOptions &options, int64_t update, int64_t updates) {
  double rate = options.learningRate;
  if (options.kind == ScheduleKind::OneCycle)
    return oneCycle(options, static_cast<double>(update), static_cast<double>(updates));
  if (update < options.warmup)
    return rate * static_cast<double>(update + 1) / static_cast<double>(options.warmup);
  switch (options.kind) {
  case ScheduleKind::Step:
    if (options.every > 0)
      rate *= std::pow(options.gamma, static_cast<double>(update / options.every));
    return rate;
  case ScheduleKind::Cosine: {
    int64_t rest = std::max<int64_t>(updates - options.warmup, 1);
    double at = static_cast<double>(update - options.warmup) / static_cast<double>(rest);
    return halfCosine(rate, options.least, at);
  }
  default:
    return rate;
  }
}

} // namespace dlc::cli
