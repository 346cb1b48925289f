// What a training run reports: every loss and learning rate, as JSON, CSV and a picture.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_RECORD_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_RECORD_H

#include "runtime/tools/dlc/train/Options.h"

#include <map>

namespace dlc::cli {

struct Validation {
  int64_t step;
  double loss;
  std::map<std::string, double> metrics; // "accuracy", "top5", "perplexity"
};

struct Record {
  int64_t firstStep = 0;
  std::vector<double> losses, learningRates; // of every step from the first on
  std::vector<Validation> validations;
  double seconds = 0;
  double dataSeconds = 0; // that steps waited for their batches
  int64_t samples = 0;
};

/// Numbers with all their digits: reading them back gives the same ones.
void writeJson(const std::string &path, const Record &record, const TrainOptions &options);
void writeCsv(const std::string &path, const Record &record);
/// The losses over the steps as an SVG.
void writePlot(const std::string &path, const Record &record);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_RECORD_H
