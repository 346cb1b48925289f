// Batches made of single samples by worker threads, ahead of the steps.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_STREAM_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_STREAM_H

#include "runtime/tools/dlc/train/Source.h"

#include "dlc/data.hpp"

namespace dlc::cli {

class Stream : public Source {
public:
  /// For training batches are shuffled and full, for validation neither.
  Stream(const DataOptions &options, const std::string &path, data::Split split, uint64_t seed);

  bool hasFloatTargets() const override;
  std::vector<std::string> shapeFlags() const override;
  void bind(const std::vector<Port> &ports, const std::string &target) override;
  int64_t count() const override { return static_cast<int64_t>(loader.batchesPerEpoch()); }
  void seek(int64_t batch, const std::map<std::string, std::string> &notes) override;
  std::map<std::string, std::string> notes() const override;
  void next() override;
  Tensor tensor(const std::string &port) const override;
  int64_t samples() const override { return batch.count(); }
  std::string remark() const override;

private:
  data::DatasetPtr open() const;
  data::LoaderOptions loaderOptions() const;
  const data::FieldSpec &fieldFor(const Port &port, const std::string &target, size_t modelInputs) const;

  const DataOptions &options;
  const std::string path;
  const bool isTraining;
  const uint64_t seed;
  std::string targetField;
  uint64_t datasetSize = 0;
  std::vector<data::FieldSpec> fields; // after the transforms
  std::vector<std::string> ports;      // that each field of the batch goes to
  data::Loader loader;
  data::Batch batch;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_STREAM_H
