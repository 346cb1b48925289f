#include "frontends/onnx/Importer.h"

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/Validate.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

/// What constants of the module point into.
struct KeptAlive {
  MappedFile file;
  std::map<std::string, std::shared_ptr<MappedFile>> external;
  Model model;
};

} // namespace

ImportResult importModel(const std::string &path, MLIRContext &context,
                         const ImportOptions &options) {
  ImportResult result;
  auto memory = std::make_shared<KeptAlive>();
  result.memory = memory;
  auto fail = [&](const std::string &message) {
    result.issues.push_back({false, false, "", message});
    result.module = nullptr;
  };
  if (std::string problem = memory->file.open(path); !problem.empty()) {
    fail(problem);
    return result;
  }
  std::string problem;
  if (!parseModel(memory->file.bytes, memory->model, problem)) {
    fail(problem);
    return result;
  }
  if (!validate(memory->model, result.issues))
    return result;
  TensorData tensors(path);
  GraphImporter importer(memory->model, tensors, context, result);
  LogicalResult imported = importer.run(options);
  memory->external = tensors.files;
  bool hasErrors = llvm::any_of(result.issues, [](const Issue &i) { return !i.isWarning; });
  if (failed(imported) || hasErrors)
    result.module = nullptr;
  return result;
}

} // namespace dlc::onnx
