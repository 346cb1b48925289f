#include "runtime/tools/dlc/train/Source.h"

#include "runtime/tools/dlc/train/Batches.h"
#include "runtime/tools/dlc/train/Stream.h"

namespace dlc::cli {

std::unique_ptr<Source> openTraining(const TrainOptions &options) {
  if (options.data.path.empty())
    return std::make_unique<Batches>(options.batches);
  return std::make_unique<Stream>(options.data, options.data.path, data::Split::Train, options.seed);
}

std::unique_ptr<Source> openValidation(const TrainOptions &options) {
  if (options.validation.empty())
    return nullptr;
  if (options.data.path.empty())
    return std::make_unique<Batches>(options.validation);
  return std::make_unique<Stream>(options.data, options.validation, data::Split::Test, options.seed);
}

} // namespace dlc::cli
