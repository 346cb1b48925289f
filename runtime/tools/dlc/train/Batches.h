// Batches from an archive whose arrays hold one batch per row.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_BATCHES_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_BATCHES_H

#include "runtime/tools/dlc/train/Source.h"

namespace dlc::cli {

class Batches : public Source {
public:
  explicit Batches(const std::string &path);

  bool hasFloatTargets() const override;
  /// Of each array but "y".
  std::vector<std::string> shapeFlags() const override;
  /// An array of the port's name, else "x" for the only input of the model, and "y" for
  /// `target`. Converts them to the ports' types.
  void bind(const std::vector<Port> &ports, const std::string &target) override;
  int64_t count() const override { return batchCount; }
  void seek(int64_t batch, const std::map<std::string, std::string> &) override { following = batch; }
  void next() override { current = following++ % batchCount; }
  /// It shares the array's memory.
  Tensor tensor(const std::string &port) const override;
  int64_t samples() const override;

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
  int64_t batchCount = 0, current = 0, following = 0;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_BATCHES_H
