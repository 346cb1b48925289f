// How far a training run is: one line that is rewritten on a terminal, a few lines elsewhere.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_PROGRESS_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace dlc::cli {

class Progress {
public:
  Progress(int64_t steps, bool isQuiet);
  /// After a step; `dataSeconds` is how long it waited for its batch.
  void step(int64_t done, double loss, int64_t samples, double dataSeconds);
  /// A line of its own.
  void note(const std::string &line);
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  void print(int64_t done, double loss);

  const int64_t steps;
  const bool isQuiet, isTerminal;
  const Clock::time_point start = Clock::now();
  Clock::time_point lastPrinted = start;
  int64_t first = -1, samples = 0, lastTenth = 0;
  double dataSeconds = 0;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_PROGRESS_H
