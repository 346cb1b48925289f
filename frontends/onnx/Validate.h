// What a model must fulfil before any of it is imported.

#ifndef DLC_FRONTENDS_ONNX_VALIDATE_H
#define DLC_FRONTENDS_ONNX_VALIDATE_H

#include "frontends/onnx/Issues.h"
#include "frontends/onnx/Model.h"
#include "frontends/onnx/ModelFile.h"

namespace dlc::onnx {

/// The newest opset of the default domain that the handlers know.
inline constexpr int64_t kNewestOpset = 28;
/// The newest format of the file itself.
inline constexpr int64_t kNewestIrVersion = 14;
/// Nodes that a model may have once its functions are inlined.
inline constexpr uint64_t kMostNodes = 1000000;
/// How deep model functions may call each other.
inline constexpr unsigned kDeepestCall = 256;

/// Reports everything that is wrong; true when the model can be imported. Puts the
/// nodes of every graph in an order in which values are made before they are read.
bool validateModel(Model &model, MappedFiles &files, IssueList &issues);

/// Puts `nodes` in order. False, with an error that names the cycle, if there is none.
bool sortNodes(std::vector<Node> &nodes, IssueList &issues);
/// A bound on recursion and on what inlining makes of the model.
bool checkFunctions(const Model &model, IssueList &issues);

/// How messages call a node: its name, else its first output.
StringRef nodeName(const Node &node);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_VALIDATE_H
