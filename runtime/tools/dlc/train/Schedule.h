// The learning rate of every update.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_SCHEDULE_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_SCHEDULE_H

#include "runtime/tools/dlc/train/Options.h"

namespace dlc::cli {

/// `update` counts from 0 to `updates` - 1.
double learningRateAt(const ScheduleOptions &options, int64_t update, int64_t updates);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_SCHEDULE_H
