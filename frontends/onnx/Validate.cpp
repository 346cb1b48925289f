#include "frontends/onnx/Validate.h"

#include "frontends/onnx/GraphImporter.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace dlc::onnx {

namespace {

constexpr int kMaxDepth = 64; // of nested subgraphs

using Names = std::unordered_set<std::string_view>;

class Validator {
public:
  Validator(Model &model, std::vector<Issue> &issues) : model(model), issues(issues) {}

  bool run() {
    checkOpsets();
    checkGraph(model.graph, {}, 0);
    for (Function &function : model.functions)
      checkFunction(function);
    return ok;
  }

private:
  void error(std::string_view node, std::string message) {
    issues.push_back({false, false, std::string(node), std::move(message)});
    ok = false;
  }
  static std::string quoted(std::string_view name) {
    return "'" + std::string(name) + "'";
  }
  static std::string_view nameOf(const Node &node) {
    if (!node.name.empty())
      return node.name;
    return node.outputs.empty() ? node.opType : node.outputs.front();
  }

  void checkOpsets() {
    std::set<std::string_view> seen;
    for (const OpsetId &opset : model.opsets) {
      if (!seen.insert(opset.domain).second)
        issues.push_back({true, false, "", "domain " + quoted(opset.domain) +
                                               " is imported twice; the first counts"});
      if (isDefaultDomain(opset.domain) && opset.version > kNewestOpset)
        error("", "opset " + std::to_string(opset.version) +
                      " is newer than the newest known, " + std::to_string(kNewestOpset));
      if (isDefaultDomain(opset.domain) && opset.version < 1)
        error("", "opset " + std::to_string(opset.version) + " does not exist");
    }
    if (model.opsets.empty())
      model.opsets.push_back({"", 1}); // IR versions 1 and 2 name none.
  }

  void define(std::string_view name, std::string_view what, Names &names) {
    if (!names.insert(name).second)
      error(name, std::string(what) + " " + quoted(name) + " is defined twice");
  }

  void checkGraph(Graph &graph, Names outer, int depth) {
    if (depth > kMaxDepth)
      return error(graph.name, "subgraphs are nested deeper than " + std::to_string(kMaxDepth));
    if (graph.hasSparse)
      issues.push_back({false, true, std::string(graph.name),
                        "unsupported: sparse initializers"}), ok = false;
    Names names;
    for (const Tensor &tensor : graph.initializers)
      define(tensor.name, "initializer", names);
    Names inputs;
    for (const ValueInfo &input : graph.inputs) {
      define(input.name, "input", inputs);
      names.insert(input.name);
    }
    for (const Node &node : graph.nodes) {
      size_t named = 0;
      for (std::string_view output : node.outputs)
        if (!output.empty()) {
          ++named;
          define(output, "value", names);
        }
      if (named == 0)
        error(nameOf(node), std::string(node.opType) + " has no output");
    }
    for (const ValueInfo &output : graph.outputs)
      if (!names.contains(output.name) && !outer.contains(output.name))
        error(output.name, "output " + quoted(output.name) + " is not produced by any node");
    if (!ok)
      return;
    sortNodes(graph.nodes, names, outer);
    outer.insert(names.begin(), names.end());
    for (Node &node : graph.nodes)
      for (Attribute &attribute : node.attributes)
        if (attribute.graph && ok)
          checkGraph(*attribute.graph, outer, depth + 1);
  }

  void checkFunction(Function &function) {
    Names names(function.inputs.begin(), function.inputs.end());
    for (const Node &node : function.nodes)
      for (std::string_view output : node.outputs)
        if (!output.empty())
          names.insert(output);
    sortNodes(function.nodes, names, {});
  }

  /// The names a node reads, those of its subgraphs included.
  static void collectReads(const Node &node, std::vector<std::string_view> &reads) {
    for (std::string_view input : node.inputs)
      if (!input.empty())
        reads.push_back(input);
    for (const Attribute &attribute : node.attributes)
      if (attribute.graph)
        for (const Node &inner : attribute.graph->nodes)
          collectReads(inner, reads);
  }

  /// Kahn's algorithm, stable: nodes keep their order where it is right.
  void sortNodes(std::vector<Node> &nodes, const Names &names, const Names &outer) {
    std::unordered_map<std::string_view, size_t> producer;
    for (size_t i = 0; i < nodes.size(); ++i)
      for (std::string_view output : nodes[i].outputs)
        if (!output.empty())
          producer[output] = i;
    std::vector<std::vector<size_t>> users(nodes.size());
    std::vector<size_t> waiting(nodes.size(), 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      std::vector<std::string_view> reads;
      collectReads(nodes[i], reads);
      for (std::string_view input : nodes[i].inputs)
        if (!input.empty() && !names.contains(input) && !outer.contains(input))
          error(nameOf(nodes[i]), std::string(nodes[i].opType) + " reads " +
                                      quoted(input) + ", which nothing produces");
      std::set<size_t> sources;
      for (std::string_view read : reads)
        if (auto it = producer.find(read); it != producer.end())
          sources.insert(it->second);
      if (sources.contains(i))
        error(nameOf(nodes[i]), std::string(nodes[i].opType) + " reads its own output");
      for (size_t source : sources)
        if (source != i) {
          users[source].push_back(i);
          ++waiting[i];
        }
    }
    if (!ok)
      return;
    std::set<size_t> ready;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (waiting[i] == 0)
        ready.insert(i);
    std::vector<size_t> order;
    while (!ready.empty()) {
      size_t i = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(i);
      for (size_t user : users[i])
        if (--waiting[user] == 0)
          ready.insert(user);
    }
    if (order.size() != nodes.size())
      return reportCycle(nodes, waiting);
    std::vector<Node> sorted;
    for (size_t i : order)
      sorted.push_back(std::move(nodes[i]));
    nodes = std::move(sorted);
  }

  void reportCycle(const std::vector<Node> &nodes, const std::vector<size_t> &waiting) {
    std::string cycle;
    std::string_view first;
    size_t shown = 0;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (waiting[i] > 0 && shown++ < 8) {
        cycle += (cycle.empty() ? "" : ", ") + std::string(nameOf(nodes[i]));
        if (first.empty())
          first = nameOf(nodes[i]);
      }
    error(first, "nodes feed each other in a cycle: " + cycle);
  }

  Model &model;
  std::vector<Issue> &issues;
  bool ok = true;
};

} // namespace

bool validate(Model &model, std::vector<Issue> &issues) {
  return Validator(model, issues).run();
}

} // namespace dlc::onnx
