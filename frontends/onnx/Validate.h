// Structural checks of a model before it is imported, and the order of nodes.

#ifndef DLC_FRONTENDS_ONNX_VALIDATE_H
#define DLC_FRONTENDS_ONNX_VALIDATE_H

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/Model.h"

namespace dlc::onnx {

/// Checks names, opsets and dataflow and sorts nodes topologically. Appends
/// every problem; false when one is an error.
bool validate(Model &model, std::vector<Issue> &issues);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_VALIDATE_H
