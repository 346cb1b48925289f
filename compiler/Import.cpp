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
  if (model.module && options.training.enabled &&
      !(model.module->lookupSymbol<func::FuncOp>("main") &&
        model.module->lookupSymbol<func::FuncOp>("infer"))) {
    report.add({false, kExitUsage, "", "to train, the module needs the functions @main and @infer"});
    model.module = nullptr;
  }
  if (model.module)
    model.module->walk([&](dl::InferType) { ++model.numNodes; });
  return model;
}

ImportedModel importOnnx(const CompileOptions &options, onnx::ImportMode mode,
                         MLIRContext &context, Reporter &report) {
  onnx::ImportOptions importOptions;
  importOptions.dims = options.dims;
  importOptions.shapes = options.shapes;
  importOptions.mode = mode;
  importOptions.nameWeights = options.training.enabled;
  onnx::ImportResult result = onnx::importModel(options.input, context, importOptions);
  for (const onnx::Issue &issue : result.issues)
    report.add({issue.isWarning, issue.isUnsupported ? kExitUnsupported : kExitUsage,
                issue.node, issue.message});
  ImportedModel model;
  model.module = std::move(result.module);
  model.numNodes = result.numNodes;
  model.memory.push_back(std::move(result.memory));
  for (auto &[name, value] : result.weights)
    model.weights.push_back({name, value});
  return model;
}

/// `function` as `@infer`, in front of `@main`.
void addInfer(ModuleOp module, func::FuncOp function) {
  function.setSymName("infer");
  module.insert(module.getBody()->begin(), function);
}

ImportedModel importToTrain(const CompileOptions &options, MLIRContext &context, Reporter &report) {
  ImportedModel model = importOnnx(options, onnx::ImportMode::Training, context, report);
  if (!model.module)
    return model;
  Reporter silent(options); // the same problems again
  ImportedModel infer = importOnnx(options, onnx::ImportMode::Inference, context, silent);
  if (!infer.module) {
    report.add({false, kExitInternal, "", "the model can be imported to train but not to infer"});
    model.module = nullptr;
    return model;
  }
  auto function = infer.module->lookupSymbol<func::FuncOp>("main");
  function->remove();
  addInfer(*model.module, function);
  llvm::append_range(model.memory, infer.memory);
  return model;
}

} // namespace

ImportedModel importModel(const CompileOptions &options, MLIRContext &context,
                          Reporter &report) {
  if (StringRef(options.input).ends_with(".mlir"))
    return importMlir(options, context, report);
  return options.training.enabled
             ? importToTrain(options, context, report)
             : importOnnx(options, onnx::ImportMode::AsExported, context, report);
}

} // namespace dlc
