// The ONNX frontend's door: a file in, a dl module and all problems out.

#ifndef DLC_FRONTENDS_ONNX_IMPORTER_H
#define DLC_FRONTENDS_ONNX_IMPORTER_H

#include "frontends/onnx/Issues.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlc::onnx {

/// Ops that know of training (BatchNormalization, Dropout) behave as their attributes
/// say, or all as in inference. To train, weights and what updates them are marked, too.
enum class ImportMode { AsExported, Inference, Training };

struct ImportOptions {
  ImportMode mode = ImportMode::AsExported;
  /// Gives the constants that are weights their names, as `dl.weight`.
  bool nameWeights = false;
  /// Sizes or bounds of symbolic dims: name -> [low, high].
  std::map<std::string, std::pair<int64_t, int64_t>> dims;
  /// Whole shapes of inputs: their symbolic sizes become these. "" is the only input.
  std::map<std::string, std::vector<int64_t>> shapes;
};

struct ImportResult {
  mlir::OwningOpRef<mlir::ModuleOp> module; // null when there are errors
  std::vector<Issue> issues;
  std::vector<std::pair<std::string, mlir::ElementsAttr>> weights;
  size_t numNodes = 0; // in the graph and its subgraphs
  std::shared_ptr<void> memory; // constants point into it
};

/// Reads, validates and imports a model. Problems are gathered, not just the
/// first one reported.
ImportResult importModel(const std::string &path, mlir::MLIRContext &context,
                         const ImportOptions &options);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_IMPORTER_H
