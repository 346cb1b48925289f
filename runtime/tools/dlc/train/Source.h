// Where a training run gets its batches from: one after the other, from any point on.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_SOURCE_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_SOURCE_H

#include "runtime/tools/dlc/Model.h"
#include "runtime/tools/dlc/train/Options.h"

#include <map>

namespace dlc::cli {

class Source {
public:
  virtual ~Source() = default;

  virtual bool hasFloatTargets() const = 0;
  /// The shape of every batch, as flags for `dlc compile`; none where batches differ.
  virtual std::vector<std::string> shapeFlags() const = 0;
  /// Chooses what goes into each port but "lr"; `target` is the loss's own input.
  virtual void bind(const std::vector<Port> &ports, const std::string &target) = 0;

  // After bind().
  /// Batches of one epoch.
  virtual int64_t count() const = 0;
  /// The batch that next() goes to, counted from the start of the run. `notes` are a
  /// checkpoint's: other data than it was made with are refused.
  virtual void seek(int64_t batch, const std::map<std::string, std::string> &notes) = 0;
  /// For a checkpoint: what seek() wants to know of the data.
  virtual std::map<std::string, std::string> notes() const { return {}; }
  virtual void next() = 0;
  /// The current batch's tensor for a port; valid until next().
  virtual Tensor tensor(const std::string &port) const = 0;
  /// Samples in the current batch.
  virtual int64_t samples() const = 0;
  /// What a run should hear of the data at its end; empty: nothing.
  virtual std::string remark() const { return ""; }
};

/// What the options name: an archive of batches, or data that are made into batches.
std::unique_ptr<Source> openTraining(const TrainOptions &options);
/// Null where the options name none.
std::unique_ptr<Source> openValidation(const TrainOptions &options);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_SOURCE_H
