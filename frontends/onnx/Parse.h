// Reads ONNX's wire format (see onnx.proto) without copying names or tensors.

#ifndef DLC_FRONTENDS_ONNX_PARSE_H
#define DLC_FRONTENDS_ONNX_PARSE_H

#include "frontends/onnx/Issues.h"
#include "frontends/onnx/Model.h"

namespace dlc::onnx {

/// Graphs inside graphs (If, Loop, Scan) may be this deep.
inline constexpr unsigned kDeepestGraph = 256;

/// False, with an error in `issues`, when `bytes` are not a model.
bool parseModel(StringRef bytes, Model &model, IssueList &issues);
/// The same for a lone TensorProto.
bool parseTensor(StringRef bytes, Tensor &tensor, IssueList &issues);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_PARSE_H
