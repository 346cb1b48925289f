// Scalars over steps in the files that TensorBoard reads: TFRecords of Event messages
// (tensorflow/core/util/event.proto), added to while the run goes on.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_EVENTLOG_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_EVENTLOG_H

#include <cstdint>
#include <fstream>
#include <string>

namespace dlc::cli {

class EventLog {
public:
  /// A new file in `folder`, which is made when it is not there.
  explicit EventLog(const std::string &folder);
  /// `tag` is "loss", "validation/accuracy".
  void scalar(const std::string &tag, int64_t step, double value);
  /// What was added so far can be read from now on; an error when it cannot be written.
  void flush();

private:
  void record(const std::string &event);

  std::string path;
  std::ofstream file;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_EVENTLOG_H
