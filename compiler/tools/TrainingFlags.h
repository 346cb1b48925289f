// `dlc compile --train`: what the training program should be, from flags.

#ifndef DLC_COMPILER_TOOLS_TRAININGFLAGS_H
#define DLC_COMPILER_TOOLS_TRAININGFLAGS_H

#include "passes/train/Options.h"

#include <CLI/CLI.hpp>

namespace dlc {

void addTrainingFlags(CLI::App &app, TrainingOptions &options);

} // namespace dlc

#endif // DLC_COMPILER_TOOLS_TRAININGFLAGS_H
