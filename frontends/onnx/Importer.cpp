#include "frontends/onnx/Importer.h"

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/ModelFile.h"
#include "frontends/onnx/Parse.h"
#include "frontends/onnx/Validate.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

size_t countNodes(const Graph &graph) {
  size_t count = graph.nodes.size();
  for (const Node &node : graph.nodes)
    for (const Attr &attr : node.attrs)
      if (attr.g)
        count += countNodes(*attr.g);
  return count;
}

} // namespace

ImportResult importModel(const std::string &path, MLIRContext &context,
                         const ImportOptions &options) {
  ImportResult result;
  IssueList issues;
  auto files = std::make_shared<MappedFiles>();
  Model model;
  auto bytes = files->openModel(path, issues);
  if (bytes && parseModel(*bytes, model, issues) &&
      validateModel(model, *files, issues)) {
    GraphImporter importer(model, *files, issues, context, options);
    result.module = importer.run();
    result.weights = importer.takeWeights();
    result.numNodes = countNodes(*model.graph);
  }
  if (issues.hasErrors())
    result.module = nullptr;
  result.issues = issues.take();
  result.memory = std::move(files);
  return result;
}

} // namespace dlc::onnx
