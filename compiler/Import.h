// Reads a model file of any kind into a module.

#ifndef DLC_COMPILER_IMPORT_H
#define DLC_COMPILER_IMPORT_H

#include "compiler/Report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dlc {

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module; // null after an error
  std::vector<NamedWeight> weights;
  size_t numNodes = 0; // of the model's graphs; ops of a .mlir file
  std::vector<std::shared_ptr<void>> memory; // what constants point into
};

/// `.onnx` through the ONNX frontend, `.mlir` as dl IR. To train, `@main` is the model as
/// it trains and `@infer` the same as it infers.
ImportedModel importModel(const CompileOptions &options, mlir::MLIRContext &context,
                          Reporter &report);

} // namespace dlc

#endif // DLC_COMPILER_IMPORT_H
