// Model functions are inlined at every call: bounds that, and refuses recursion.

#include "frontends/onnx/FunctionTable.h"
#include "frontends/onnx/Validate.h"

#include "llvm/ADT/DenseMap.h"

using namespace llvm;

namespace dlc::onnx {

namespace {

class Counter {
public:
  Counter(const FunctionTable &table, IssueList &issues) : table(table), issues(issues) {}

  /// Nodes after inlining, saturating; 0 after an error.
  uint64_t count(ArrayRef<Node> nodes, unsigned depth) {
    uint64_t total = 0;
    for (const Node &node : nodes) {
      total = SaturatingAdd(total, one(node, depth));
      for (const Attr &attr : node.attrs)
        if (attr.g)
          total = SaturatingAdd(total, count(attr.g->nodes, depth + 1));
      if (failed)
        return 0;
    }
    return total;
  }

private:
  uint64_t one(const Node &node, unsigned depth) {
    const Function *function = table.find(node);
    if (!function)
      return 1;
    auto [it, isNew] = sizes.try_emplace(function, kActive);
    if (isNew) {
      if (depth >= kDeepestCall)
        return fail(node, "functions call each other more than " + Twine(kDeepestCall) + " deep");
      uint64_t size = count(function->nodes, depth + 1);
      sizes[function] = size;
      return size;
    }
    if (it->second == kActive)
      return fail(node, "function " + quoted(function->name) + " calls itself");
    return it->second;
  }

  uint64_t fail(const Node &node, const Twine &message) {
    if (!failed)
      issues.error(nodeName(node), message);
    failed = true;
    return 0;
  }

  static constexpr uint64_t kActive = UINT64_MAX - 1;
  const FunctionTable &table;
  IssueList &issues;
  DenseMap<const Function *, uint64_t> sizes;
  bool failed = false;
};

} // namespace

bool checkFunctions(const Model &model, IssueList &issues) {
  FunctionTable table(model);
  size_t before = issues.errorCount();
  Counter counter(table, issues);
  uint64_t total = counter.count(model.graph->nodes, 0);
  if (total > kMostNodes)
    issues.unsupported(model.graph->name,
                       "the model has more than " + Twine(kMostNodes) +
                           " nodes once its functions are inlined (" +
                           quoted(model.functions.empty() ? StringRef() : model.functions.back().name) +
                           " among them)");
  return issues.errorCount() == before;
}

} // namespace dlc::onnx
