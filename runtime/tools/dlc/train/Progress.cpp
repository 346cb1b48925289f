#include "runtime/tools/dlc/train/Progress.h"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace dlc::cli {

Progress::Progress(int64_t steps, bool isQuiet)
    : steps(steps), isQuiet(isQuiet), isTerminal(isatty(STDERR_FILENO)) {}

void Progress::print(int64_t done, double loss) {
  constexpr int width = 24;
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  double perStep = done > first ? seconds / static_cast<double>(done - first) : 0;
  int filled = static_cast<int>(width * done / std::max<int64_t>(steps, 1));
  std::ostringstream line;
  line << "step " << done << "/" << steps << " [" << std::string(filled, '#')
       << std::string(width - filled, '.') << "] loss " << std::setprecision(6) << loss
       << std::fixed << std::setprecision(0);
  if (seconds > 0)
    line << "  " << static_cast<double>(samples) / seconds << " samples/s";
  line << "  left " << perStep * static_cast<double>(steps - done) << " s  data wait "
       << (seconds > 0 ? 100 * dataSeconds / seconds : 0) << "%";
  if (isTerminal)
    std::cerr << "\r\x1b[K" << line.str() << std::flush;
  else
    std::cerr << line.str() << "\n";
}

void Progress::step(int64_t done, double loss, int64_t stepSamples, double waited) {
  if (first < 0)
    first = done - 1;
  samples += stepSamples;
  dataSeconds += waited;
  if (isQuiet)
    return;
  auto now = Clock::now();
  constexpr auto interval = std::chrono::milliseconds(100);
  int64_t tenth = 10 * done / std::max<int64_t>(steps, 1);
  bool isDue = isTerminal ? now - lastPrinted >= interval || done == steps
                          : tenth > lastTenth || done == first + 1;
  if (!isDue)
    return;
  lastPrinted = now;
  lastTenth = tenth;
  print(done, loss);
}

void Progress::note(const std::string &line) {
  if (!isQuiet)
    std::cerr << (isTerminal ? "\r\x1b[K" : "") << line << "\n";
}

void Progress::finish() {
  if (!isQuiet && isTerminal)
    std::cerr << "\n";
}

} // namespace dlc::cli
