// How good a model is on batches that it does not learn from.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_METRICS_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_METRICS_H

#include "runtime/tools/dlc/train/Record.h"
#include "runtime/tools/dlc/train/Source.h"

namespace dlc::cli {

/// Runs `eval` on one epoch of batches: the mean loss over all targets, and where targets are
/// classes how many of them are the most likely, and among the five most likely.
Validation validate(Model &eval, Source &batches, const std::string &target,
                    const TrainOptions &options);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_METRICS_H
