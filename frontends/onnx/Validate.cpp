#include "frontends/onnx/Validate.h"

#include "frontends/onnx/TensorData.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dlc::onnx {

StringRef nodeName(const Node &node) {
  if (!node.name.empty())
    return node.name;
  for (StringRef output : node.outputs)
    if (!output.empty())
      return output;
  return node.opType;
}

namespace {

/// Names that are visible in a graph, and those of the graphs around it.
struct Scope {
  StringSet<> names;
  const Scope *outer = nullptr;

  bool sees(StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (scope->names.contains(name))
        return true;
    return false;
  }
};

class Validator {
public:
  Validator(MappedFiles &files, IssueList &issues) : files(files), issues(issues) {}

  void model(Model &m) {
    if (m.irVersion > kNewestIrVersion)
      issues.warning("", "IR version " + Twine(m.irVersion) +
                             " is newer than the newest known, " + Twine(kNewestIrVersion));
    if (m.opsets.empty())
      m.opsets.push_back({"", 1}); // IR versions 1 and 2 name none
    opsets = imports(m.opsets, "the model");
    graph(*m.graph, nullptr);
    for (Function &f : m.functions)
      function(f);
  }

private:
  StringMap<int64_t> imports(ArrayRef<OpsetImport> list, const Twine &importer) {
    StringMap<int64_t> result;
    for (const OpsetImport &import : list) {
      auto [it, isNew] = result.try_emplace(import.domain, import.version);
      if (!isNew && it->second != import.version)
        issues.error("", importer.str() + " imports the opset of domain " + quoted(import.domain) +
                             " twice, as " + Twine(it->second) + " and " + Twine(import.version));
      if (import.domain.empty() && import.version > kNewestOpset)
        issues.error("", "opset " + Twine(import.version) +
                             " is newer than the newest known, " + Twine(kNewestOpset));
      if (import.version < 1)
        issues.error("", "opset " + Twine(import.version) + " of domain " +
                             quoted(import.domain) + " is not a version");
    }
    return result;
  }

  void graph(Graph &g, const Scope *outer) {
    Scope scope;
    scope.outer = outer;
    if (g.numSparseInitializers)
      issues.unsupported(g.name, Twine(g.numSparseInitializers) +
                                     " sparse initializers; only dense ones are supported");
    StringSet<> initialized;
    for (const Tensor &t : g.initializers) {
      if (!initialized.insert(t.name).second)
        issues.error(t.name, "initializer " + quoted(t.name) + " is defined twice");
      checkTensor(t, "initializer " + quoted(t.name), files, issues);
    }
    for (const ValueInfo &input : g.inputs) {
      if (input.name.empty())
        issues.error(g.name, "an input of the graph has no name");
      else if (!scope.names.insert(input.name).second)
        issues.error(input.name, "two inputs of the graph are called " + quoted(input.name));
    }
    for (const auto &name : initialized.keys())
      scope.names.insert(name); // may also be an input: a default value
    body(g.nodes, scope);
    for (const ValueInfo &output : g.outputs)
      if (!scope.sees(output.name))
        issues.error(output.name, "output " + quoted(output.name) + " of the graph is never made");
  }

  void function(Function &f) {
    StringMap<int64_t> modelOpsets = std::move(opsets);
    opsets = imports(f.opsets, "function " + quoted(f.name));
    // Opsets that a function leaves out are the model's.
    for (auto &entry : modelOpsets)
      opsets.try_emplace(entry.first(), entry.second);
    Scope scope;
    for (StringRef input : f.inputs)
      if (!scope.names.insert(input).second)
        issues.error(f.name, "two inputs of function " + quoted(f.name) + " are called " + quoted(input));
    body(f.nodes, scope);
    for (StringRef output : f.outputs)
      if (!scope.sees(output))
        issues.error(f.name, "output " + quoted(output) + " of function " + quoted(f.name) + " is never made");
    opsets = std::move(modelOpsets);
  }

  void body(std::vector<Node> &nodes, Scope &scope) {
    for (const Node &node : nodes) {
      bool makesSomething = node.outputs.empty();
      for (StringRef output : node.outputs) {
        makesSomething |= !output.empty();
        if (!output.empty() && !scope.names.insert(output).second)
          issues.error(nodeName(node), node.opType + Twine(" makes ") + quoted(output) +
                                           ", a name that is taken already");
      }
      if (!makesSomething || node.outputs.empty())
        issues.error(nodeName(node), printable(node.opType) + " has no output");
    }
    for (Node &node : nodes)
      checkNode(node, scope);
    sortNodes(nodes, issues);
  }

  void checkNode(Node &node, const Scope &scope) {
    if (!opsets.contains(node.domain))
      issues.error(nodeName(node), printable(node.opType) + " is of domain " + quoted(node.domain) +
                                       ", which the model does not import");
    for (StringRef input : node.inputs)
      if (!input.empty() && !scope.sees(input))
        issues.error(nodeName(node), printable(node.opType) + " reads " + quoted(input) +
                                         ", which nothing makes");
    StringSet<> attributes;
    for (Attr &attr : node.attrs) {
      if (!attributes.insert(attr.name).second)
        issues.error(nodeName(node), "attribute " + quoted(attr.name) + " of " +
                                         printable(node.opType) + " is given twice");
      if (attr.t)
        checkTensor(*attr.t, "attribute " + quoted(attr.name) + " of node " + quoted(nodeName(node)),
                    files, issues);
      if (attr.g)
        graph(*attr.g, &scope);
    }
  }

  MappedFiles &files;
  IssueList &issues;
  StringMap<int64_t> opsets;
};

} // namespace

bool validateModel(Model &model, MappedFiles &files, IssueList &issues) {
  if (!model.graph) {
    issues.error("", "not a valid ONNX model: it has no graph");
    return false;
  }
  size_t before = issues.errorCount();
  Validator(files, issues).model(model);
  checkFunctions(model, issues);
  return issues.errorCount() == before;
}

} // namespace dlc::onnx
