// The loop of `dlc train`.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_TRAINER_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_TRAINER_H

#include "runtime/tools/dlc/train/Source.h"

namespace dlc::cli {

/// Compiles, trains, writes what was asked for. Stopped by a signal, it saves first.
void train(const TrainOptions &options);

/// Compiles `options.model` into an artifact that trains on batches of these shapes; when
/// `validation` has others, on any.
void compileToTrain(const TrainOptions &options, const Source &batches,
                    const Source *validation, const std::string &artifact);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_TRAINER_H
