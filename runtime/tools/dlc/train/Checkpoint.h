// A training run on disk: all states of the model by name, and where the run was.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_CHECKPOINT_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_CHECKPOINT_H

#include "runtime/tools/dlc/Model.h"

#include <map>

namespace dlc::cli {

struct Position {
  int64_t steps = 0;   // batches that were seen
  int64_t updates = 0; // of the optimizer
  std::map<std::string, std::string> notes = {}; // all that the file says, as text
};

/// Parameters keep their names from the model; the position goes into the file's metadata.
void saveCheckpoint(const std::string &path, const Model &model, const Position &position);

/// Gives the file a second name with the number of steps in it, "out-000120.safetensors", and
/// removes all such names but the newest `keep`.
void keepCheckpoint(const std::string &path, int64_t steps, int64_t keep);

/// Every state must be in the file: the run goes on as if it had not stopped.
Position resumeCheckpoint(const std::string &path, const Model &model);

/// Writes the model of an ONNX file with the parameters, or where they are kept their
/// averages, and the statistics that `model` has.
void exportModel(const std::string &from, const std::string &to, const Model &model);

/// Takes the parameters and statistics that the file has; at least one.
void loadParameters(const std::string &path, const Model &model);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_CHECKPOINT_H
