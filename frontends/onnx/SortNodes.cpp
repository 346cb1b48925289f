// Orders the nodes of a graph by their data. Files are sorted as a rule; then nothing
// moves. No recursion along the graph: chains are as long as files allow.

#include "frontends/onnx/Validate.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <queue>

using namespace llvm;

namespace dlc::onnx {

namespace {

void collectReads(const Graph &graph, StringSet<> &reads);

/// What `node` reads, with what the graphs in it capture from around them.
void collectReads(const Node &node, StringSet<> &reads) {
  for (StringRef input : node.inputs)
    if (!input.empty())
      reads.insert(input);
  for (const Attr &attr : node.attrs)
    if (attr.g)
      collectReads(*attr.g, reads);
}

// As deep as graphs are nested, which parsing bounds.
void collectReads(const Graph &graph, StringSet<> &reads) {
  StringSet<> inner;
  for (const Node &node : graph.nodes)
    collectReads(node, inner);
  for (const ValueInfo &output : graph.outputs)
    inner.insert(output.name);
  for (const Node &node : graph.nodes)
    for (StringRef output : node.outputs)
      inner.erase(output);
  for (const ValueInfo &input : graph.inputs)
    inner.erase(input.name);
  for (const Tensor &tensor : graph.initializers)
    inner.erase(tensor.name);
  for (const auto &name : inner.keys())
    reads.insert(name);
}

class Sorter {
public:
  explicit Sorter(std::vector<Node> &nodes)
      : nodes(nodes), users(nodes.size()), missing(nodes.size()) {
    StringMap<size_t> makers;
    for (auto [i, node] : llvm::enumerate(nodes))
      for (StringRef output : node.outputs)
        if (!output.empty())
          makers.try_emplace(output, i);
    for (auto [i, node] : llvm::enumerate(nodes)) {
      StringSet<> reads;
      collectReads(node, reads);
      for (const auto &name : reads.keys())
        if (auto it = makers.find(name); it != makers.end()) {
          users[it->second].push_back(i);
          ++missing[i];
        }
    }
  }

  /// The order: of the nodes that are ready, the first in the file comes next.
  std::vector<size_t> order() {
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (missing[i] == 0)
        ready.push(i);
    std::vector<size_t> result;
    while (!ready.empty()) {
      size_t next = ready.top();
      ready.pop();
      result.push_back(next);
      for (size_t user : users[next])
        if (--missing[user] == 0)
          ready.push(user);
    }
    return result;
  }

  /// Nodes of a cycle, in the order of the data, after order() left some out.
  std::vector<size_t> cycle() {
    std::vector<size_t> maker(nodes.size(), nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      if (missing[i])
        for (size_t user : users[i])
          maker[user] = i;
    size_t at = 0;
    while (!missing[at])
      ++at;
    std::vector<bool> seen(nodes.size());
    while (!seen[at]) {
      seen[at] = true;
      at = maker[at]; // a node that waits has a maker that waits
    }
    std::vector<size_t> result;
    for (size_t node = at; result.empty() || node != at; node = maker[node])
      result.push_back(node);
    std::reverse(result.begin(), result.end());
    return result;
  }

private:
  std::vector<Node> &nodes;
  std::vector<SmallVector<size_t, 2>> users;
  std::vector<size_t> missing; // reads of nodes that are not placed yet
};

constexpr size_t kCycleNodesShown = 6;

void reportCycle(ArrayRef<Node> nodes, ArrayRef<size_t> cycle, IssueList &issues) {
  const Node &first = nodes[cycle.front()];
  if (cycle.size() == 1) {
    issues.error(nodeName(first), printable(first.opType) + " reads its own output");
    return;
  }
  std::string path;
  for (size_t i : cycle.take_front(kCycleNodesShown))
    path += quoted(nodeName(nodes[i])) + " -> ";
  if (cycle.size() > kCycleNodesShown)
    path += "... (" + std::to_string(cycle.size()) + " nodes) -> ";
  issues.error(nodeName(first), "nodes feed each other in a cycle: " + path + quoted(nodeName(first)));
}

} // namespace

bool sortNodes(std::vector<Node> &nodes, IssueList &issues) {
  Sorter sorter(nodes);
  std::vector<size_t> order = sorter.order();
  if (order.size() < nodes.size()) {
    reportCycle(nodes, sorter.cycle(), issues);
    return false;
  }
  if (llvm::is_sorted(order))
    return true;
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (size_t i : order)
    sorted.push_back(std::move(nodes[i]));
  nodes = std::move(sorted);
  return true;
}

} // namespace dlc::onnx
