// Batches from an archive whose arrays hold one batch per row.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_BATCHES_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_BATCHES_H

#include "runtime/tools/dlc/Model.h"

namespace dlc::cli {

class Batches {
public:
  explicit Batches(const std::string &path);

  int64_t count() const { return batchCount; }
  bool hasFloatTargets() const;
  /// The shape of one batch of each array but "y", as flags for `dlc compile`.
  std::vector<std::string> shapeFlags() const;
  /// Chooses an array for each port: one of its name, else "x" for the only input of the
  /// model, and "y" for `target`. Converts them to the ports' types.
  void bind(const std::vector<Port> &ports, const std::string &target);
  /// The tensor of a bound port for one batch; it shares the array's memory.
  Tensor tensor(const std::string &port, int64_t batch) const;
  /// Samples in one batch.
  int64_t samples() const;

private:
  const NamedTensor *find(const std::string &name) const;

  std::string path;
  NamedTensors arrays;
  struct Bound {
    std::string port;
    const dlc_tensor *array;
  };
  std::vector<Bound> bound;
  std::vector<Tensor> converted;
  int64_t batchCount = 0;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_BATCHES_H
