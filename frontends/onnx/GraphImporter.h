// Turns a validated model into a dl module, node by node, knowing every size as an
// expression over the symbols of the inputs.

#ifndef DLC_FRONTENDS_ONNX_GRAPHIMPORTER_H
#define DLC_FRONTENDS_ONNX_GRAPHIMPORTER_H

#include "frontends/onnx/FunctionTable.h"
#include "frontends/onnx/Importer.h"
#include "frontends/onnx/Model.h"
#include "frontends/onnx/ModelFile.h"

#include "dialects/dl/Dl.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringMap.h"

namespace dlc::onnx {

/// The values that names stand for. A null value is one that could not be imported:
/// what reads it is skipped, its problem is reported already.
struct Environment {
  llvm::StringMap<mlir::Value> values;
  const Environment *outer = nullptr;

  mlir::Value lookup(StringRef name) const {
    for (const Environment *e = this; e; e = e->outer)
      if (auto it = e->values.find(name); it != e->values.end())
        return it->second;
    return {};
  }
};

class GraphImporter : public dl::DimScope {
public:
  GraphImporter(const Model &model, MappedFiles &files, IssueList &issues,
                mlir::MLIRContext &context, const ImportOptions &options);

  mlir::OwningOpRef<mlir::ModuleOp> run();
  std::vector<std::pair<std::string, mlir::ElementsAttr>> takeWeights() {
    return std::move(weights);
  }

  // What handlers use, through NodeContext.

  /// Imports `graph` at the insertion point with `inputs` for its inputs. None when
  /// something in it could not be imported.
  std::optional<llvm::SmallVector<mlir::Value>>
  importGraph(const Graph &graph, mlir::OpBuilder &b, mlir::ValueRange inputs,
              const Environment &outer);
  /// Gives a new op its types. What is known altogether becomes a constant.
  llvm::SmallVector<mlir::Value> finish(mlir::Operation *op, mlir::OpBuilder &b);
  /// Notes a problem of the current node; one per node is enough.
  mlir::LogicalResult report(const llvm::Twine &what, bool isUnsupported);
  /// The value of a tensor; null, with the problem reported, when dl has no such type.
  mlir::ElementsAttr tensorAttr(const Tensor &tensor, StringRef what);
  ImportMode mode() const { return options.mode; }
  /// When training: after a run the weight `old` is to be `now`. Does nothing where `old`
  /// is no weight of the main graph.
  void updateWeight(mlir::Value old, mlir::Value now);
  /// Declares what is known about a block argument.
  void declare(mlir::Value value, dl::TensorInfo info) { infos[value] = std::move(info); }

  // DimScope
  dl::TensorInfo lookup(mlir::Value value) override;
  mlir::AffineExpr unknown() override;
  mlir::AffineExpr fromData(mlir::Value tensor, int64_t index) override;
  void constrain(mlir::AffineExpr, mlir::AffineExpr, mlir::Operation *) override {}

private:
  /// A call of a model function that is being inlined.
  struct Frame {
    const Node &call;
    const Function &function;
    const Frame *outer;
    llvm::StringMap<int64_t> opsets;
  };

  mlir::Type argumentType(const ValueInfo &input, llvm::SmallVector<mlir::Attribute> &dims);
  std::optional<int64_t> givenSize(const ValueInfo &input, size_t axis) const;
  mlir::AffineExpr symbol(StringRef name);
  void addArguments(Environment &env);
  void addConstants(const Graph &graph, mlir::OpBuilder &b, Environment &env, bool areWeights);
  void addResults(const Environment &env);
  void checkDeclared(const ValueInfo &output, mlir::Value value);
  void addBounds();

  void importNode(const Node &node, mlir::OpBuilder &b, Environment &env);
  void importOp(const Node &node, mlir::OpBuilder &b, Environment &env);
  void importCall(const Node &node, const Function &function, mlir::OpBuilder &b, Environment &env);
  Node resolveReferences(const Node &node) const;
  bool gatherInputs(const Node &node, Environment &env, llvm::SmallVectorImpl<mlir::Value> &inputs);
  std::optional<int64_t> opsetOf(StringRef domain) const;
  bool tooLarge(mlir::Operation *op, llvm::ArrayRef<dl::TensorInfo> infos);
  mlir::Location locationOf(const Node &node);
  mlir::LogicalResult diagnose(mlir::Diagnostic &diagnostic);

  const Model &model;
  MappedFiles &files;
  IssueList &issues;
  mlir::MLIRContext *context;
  const ImportOptions &options;
  FunctionTable functions;
  llvm::StringMap<int64_t> modelOpsets;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  std::vector<std::pair<std::string, mlir::ElementsAttr>> weights;
  /// New values of weights, by name.
  std::vector<std::pair<mlir::StringAttr, mlir::Value>> updates;

  const Frame *frame = nullptr;
  const Node *current = nullptr; // problems are its
  bool currentReported = false;

  llvm::DenseMap<mlir::Value, dl::TensorInfo> infos;
  llvm::StringMap<mlir::AffineExpr> symbols;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::AffineExpr> dataSymbols;
  unsigned numSymbols = 0;
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_GRAPHIMPORTER_H
