// Ordering nodes, and the bounds on functions.

#include "frontends/onnx/Validate.h"

#include <gtest/gtest.h>

#include <deque>

using namespace dlc::onnx;

namespace {

/// Keeps the names that nodes view.
class Nodes {
public:
  void add(const std::string &in, const std::string &out, const std::string &op = "Relu") {
    Node node;
    node.inputs.push_back(keep(in));
    node.outputs.push_back(keep(out));
    node.opType = keep(op);
    list.push_back(std::move(node));
  }
  StringRef keep(const std::string &name) { return names.emplace_back(name); }
  std::vector<Node> list;

private:
  std::deque<std::string> names;
};

std::string firstMessage(IssueList &issues) {
  std::vector<Issue> list = issues.take();
  return list.empty() ? "" : list.front().message;
}

TEST(SortNodes, LongChainBackwards) {
  constexpr int length = 100000;
  Nodes nodes;
  for (int i = length; i-- > 0;)
    nodes.add("v" + std::to_string(i), "v" + std::to_string(i + 1));
  IssueList issues;
  ASSERT_TRUE(sortNodes(nodes.list, issues));
  EXPECT_EQ(nodes.list.front().inputs[0], "v0");
  EXPECT_EQ(nodes.list.back().outputs[0], "v100000");
}

TEST(SortNodes, KeepsTheOrderOfSortedFiles) {
  Nodes nodes;
  nodes.add("x", "b");
  nodes.add("x", "a");
  nodes.add("b", "c");
  IssueList issues;
  ASSERT_TRUE(sortNodes(nodes.list, issues));
  EXPECT_EQ(nodes.list[0].outputs[0], "b");
  EXPECT_EQ(nodes.list[1].outputs[0], "a");
}

TEST(SortNodes, NamesTheCycleAndNotItsUsers) {
  Nodes nodes;
  nodes.add("b", "a");
  nodes.add("a", "b");
  nodes.add("b", "user");
  IssueList issues;
  EXPECT_FALSE(sortNodes(nodes.list, issues));
  std::string message = firstMessage(issues);
  EXPECT_NE(message.find("cycle"), std::string::npos);
  EXPECT_NE(message.find("'a'"), std::string::npos);
  EXPECT_NE(message.find("'b'"), std::string::npos);
  EXPECT_EQ(message.find("user"), std::string::npos);
}

TEST(SortNodes, SubgraphsCaptureFromAround) {
  Nodes nodes;
  nodes.add("c", "y", "If");
  auto branch = std::make_shared<Graph>();
  Nodes inner;
  inner.add("late", "z");
  branch->nodes = inner.list;
  branch->outputs.push_back({"z", {}});
  Attr attr;
  attr.name = "then_branch";
  attr.g = branch;
  nodes.list[0].attrs.push_back(attr);
  nodes.add("x", "late");
  IssueList issues;
  ASSERT_TRUE(sortNodes(nodes.list, issues));
  EXPECT_EQ(nodes.list[0].outputs[0], "late");
}

Model callingModel(Nodes &nodes, const std::string &callee) {
  nodes.add("x", "y", callee);
  Model model;
  model.graph.emplace().nodes = nodes.list;
  return model;
}

Function function(Nodes &nodes, const std::string &name, const std::string &callee, int calls) {
  Nodes body;
  Function f;
  f.name = nodes.keep(name);
  for (int i = 0; i < calls; ++i) {
    Node node;
    node.opType = nodes.keep(callee);
    f.nodes.push_back(node);
  }
  return f;
}

TEST(CheckFunctions, RecursionIsRefused) {
  Nodes nodes;
  Model model = callingModel(nodes, "A");
  model.functions = {function(nodes, "A", "B", 1), function(nodes, "B", "A", 1)};
  IssueList issues;
  EXPECT_FALSE(checkFunctions(model, issues));
  EXPECT_NE(firstMessage(issues).find("calls itself"), std::string::npos);
}

TEST(CheckFunctions, DoublingIsCountedNotDone) {
  Nodes nodes;
  Model model = callingModel(nodes, "F39");
  for (int i = 0; i < 40; ++i)
    model.functions.push_back(function(nodes, "F" + std::to_string(i),
                                       i ? "F" + std::to_string(i - 1) : "Relu", 2));
  IssueList issues;
  EXPECT_FALSE(checkFunctions(model, issues));
  EXPECT_NE(firstMessage(issues).find("1000000 nodes"), std::string::npos);
}

TEST(CheckFunctions, FewCallsPass) {
  Nodes nodes;
  Model model = callingModel(nodes, "A");
  model.functions = {function(nodes, "A", "B", 3), function(nodes, "B", "Relu", 2)};
  IssueList issues;
  EXPECT_TRUE(checkFunctions(model, issues));
}

} // namespace
