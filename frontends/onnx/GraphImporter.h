// Turns the nodes of a graph into dl ops.

#ifndef DLC_FRONTENDS_ONNX_GRAPHIMPORTER_H
#define DLC_FRONTENDS_ONNX_GRAPHIMPORTER_H

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/TensorData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace dlc::onnx {

class GraphImporter {
public:
  GraphImporter(const Model &model, TensorData &tensors, mlir::MLIRContext &context,
                ImportResult &result)
      : model(model), tensors(tensors), b(&context), result(result) {}

  /// Imports the main graph as func @main.
  mlir::LogicalResult run(const ImportOptions &options);

  // For NodeContext.
  mlir::LogicalResult report(const Node &node, const llvm::Twine &what,
                             bool isUnsupported);
  std::optional<llvm::SmallVector<int64_t>> knownInts(mlir::Value value);
  std::optional<llvm::SmallVector<double>> knownFloats(mlir::Value value);
  /// A dl.constant for a tensor of the model.
  mlir::FailureOr<mlir::Value> constant(const Tensor &tensor, mlir::Location loc);
  mlir::OpBuilder &builder() { return b; }

private:
  using Scope = llvm::StringMap<mlir::Value>;

  mlir::LogicalResult declareInputs(mlir::func::FuncOp function,
                                    const ImportOptions &options);
  mlir::FailureOr<mlir::RankedTensorType> inputType(const ValueInfo &info,
                                                    const ImportOptions &options,
                                                    llvm::SmallVector<mlir::Attribute> &names);
  void importNodes(const std::vector<Node> &nodes, Scope &scope,
                   llvm::ArrayRef<OpsetId> opsets);
  void importNode(const Node &node, Scope &scope, llvm::ArrayRef<OpsetId> opsets);
  bool inlineFunction(const Node &node, const Function &function, Scope &scope);
  const Function *findFunction(const Node &node) const;
  mlir::Value lookup(std::string_view name, Scope &scope);
  mlir::Location locationOf(const Node &node);
  void issue(std::string node, std::string message, bool isUnsupported);

  const Model &model;
  TensorData &tensors;
  mlir::OpBuilder b;
  ImportResult &result;
  llvm::StringMap<const Tensor *> initializers;
  llvm::StringMap<mlir::Value> constants; // initializers already materialised
  mlir::Block *entry = nullptr;
  int functionDepth = 0;
  int64_t inlinedNodes = 0;
};

/// The opset version that a node of `domain` is written in; 0: not imported.
int64_t opsetOf(llvm::ArrayRef<OpsetId> opsets, std::string_view domain);
bool isDefaultDomain(std::string_view domain);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_GRAPHIMPORTER_H
