// An ONNX model with other weights in it: what training leaves behind.

#ifndef DLC_RUNTIME_TOOLS_IO_ONNXWEIGHTS_H
#define DLC_RUNTIME_TOOLS_IO_ONNXWEIGHTS_H

#include "runtime/tools/io/Tensor.h"

#include <map>

namespace dlc::cli {

/// Copies the model `from` to `to`. Initializers that `weights` names get these values; ops
/// exported to train (BatchNormalization, Dropout) become those of inference.
void exportOnnx(const std::string &from, const std::string &to,
                const std::map<std::string, const dlc_tensor *> &weights);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_ONNXWEIGHTS_H
