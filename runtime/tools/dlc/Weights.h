// The model's original weights, as an artifact keeps them.

#ifndef DLC_RUNTIME_TOOLS_DLC_WEIGHTS_H
#define DLC_RUNTIME_TOOLS_DLC_WEIGHTS_H

#include "runtime/tools/dlc/Artifact.h"
#include "runtime/tools/io/Tensor.h"

namespace dlc::cli {

struct Weight {
  std::string name;
  Tensor tensor; // a view of the artifact's bytes
};
/// By ONNX name; the artifact must outlive them.
std::vector<Weight> weightsOf(const Artifact &artifact);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_WEIGHTS_H
