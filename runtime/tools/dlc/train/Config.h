// Flags from a file.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_CONFIG_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_CONFIG_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace dlc::cli {

/// The command's arguments, with those of each `--config FILE` put in: a TOML file of the
/// flags without their dashes. What the command line gives itself goes before the file.
std::vector<std::string> withConfig(const CLI::App &command, std::vector<std::string> arguments);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_CONFIG_H
