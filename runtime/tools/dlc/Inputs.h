// Where a run's inputs come from: files, pictures, a random generator.

#ifndef DLC_RUNTIME_TOOLS_DLC_INPUTS_H
#define DLC_RUNTIME_TOOLS_DLC_INPUTS_H

#include "runtime/tools/dlc/Model.h"
#include "runtime/tools/io/Image.h"

#include <CLI/App.hpp>

#include <map>
#include <optional>

namespace dlc::cli {

struct InputOptions {
  std::vector<std::string> files, images; // FILE or NAME=FILE
  std::optional<uint64_t> seed;
  std::map<std::string, int64_t> dims; // for symbolic sizes of random inputs
  ImageOptions image;
};

void addInputOptions(CLI::App &command, InputOptions &options);
/// --dim NAME=SIZE, any number of times.
void addDimOption(CLI::App &command, std::map<std::string, int64_t> &dims, const std::string &help);

/// One tensor per model input, in order. Anything missing, twice given, unknown
/// or of a wrong type is an error that names it.
std::vector<Tensor> gatherInputs(const Model &model, const InputOptions &options);

/// Arrays from .npy, .npz or .pb, named where the file names them.
NamedTensors readArrays(const std::string &path);

/// Splits "NAME=FILE" where NAME is one of the ports; else the name is empty.
std::pair<std::string, std::string> splitNamed(const std::string &text,
                                               const std::vector<Port> &ports);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_INPUTS_H
