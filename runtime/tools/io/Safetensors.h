// The safetensors format: a JSON table of named tensors, then their bytes.

#ifndef DLC_RUNTIME_TOOLS_IO_SAFETENSORS_H
#define DLC_RUNTIME_TOOLS_IO_SAFETENSORS_H

#include "runtime/tools/io/Tensor.h"

#include <map>

namespace dlc::cli {

struct Safetensors {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;
};

/// Everything that the file says is checked against its size before it is used.
Safetensors readSafetensors(const std::string &path);

/// Atomic: after a crash at any moment the file is the old one or the new one, whole.
void writeSafetensors(const std::string &path, const Safetensors &contents);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_SAFETENSORS_H
