#include "compiler/Import.h"

#include "dialects/dl/Dl.h"
#include "frontends/onnx/Importer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dlc {

namespace {

ImportedModel importMlir(const CompileOptions &options, MLIRContext &context,
                         Reporter &report) {
  ImportedModel model;
  model.module = parseSourceFile<ModuleOp>(options.input, &context);
  if (model.module && model.module->getOps<func::FuncOp>().empty()) {
    report.add({false, kExitUsage, "", "there is no function in it"});
    model.module = nullptr;
  }
  if (model.module)
    model.module->walk([&](dl::InferType) { ++model.numNodes; });
  return model;
}

ImportedModel importOnnx(const CompileOptions &options, MLIRContext &context,
                         Reporter &report) {
  onnx::ImportOptions importOptions;
  importOptions.dims = options.dims;
  onnx::ImportResult result = onnx::importModel(options.input, context, importOptions);
  for (const onnx::Issue &issue : result.issues)
    report.add({issue.isWarning, issue.isUnsupported ? kExitUnsupported : kExitUsage,
                issue.node, issue.message});
  ImportedModel model;
  model.module = std::move(result.module);
  model.memory = std::move(result.memory);
  model.numNodes = result.numNodes;
  for (auto &[name, value] : result.weights)
    model.weights.push_back({name, value});
  return model;
}

} // namespace

ImportedModel importModel(const CompileOptions &options, MLIRContext &context,
                          Reporter &report) {
  if (StringRef(options.input).ends_with(".mlir"))
    return importMlir(options, context, report);
  return importOnnx(options, context, report);
}

} // namespace dlc
