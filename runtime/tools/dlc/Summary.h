// Outputs and profiles as people and as programs want to see them.

#ifndef DLC_RUNTIME_TOOLS_DLC_SUMMARY_H
#define DLC_RUNTIME_TOOLS_DLC_SUMMARY_H

#include "runtime/tools/dlc/Model.h"

#include <nlohmann/json_fwd.hpp>

#include <ostream>

namespace dlc::cli {

/// A table of the outputs; the five greatest of a 1xK output.
void printOutputs(std::ostream &os, const Model &model, const std::vector<Tensor> &outputs);
nlohmann::ordered_json outputsJson(const Model &model, const std::vector<Tensor> &outputs);

/// Time per kernel, the longest first.
void printProfile(std::ostream &os, const std::vector<KernelTime> &times);
nlohmann::ordered_json profileJson(const std::vector<KernelTime> &times);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_SUMMARY_H
