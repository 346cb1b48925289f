// GraphImporter's way from one node to ops: opset, handler, functions, subgraphs.

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/Registry.h"
#include "frontends/onnx/Validate.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::onnx {

std::optional<int64_t> GraphImporter::opsetOf(StringRef domain) const {
  if (frame)
    if (auto it = frame->opsets.find(domain); it != frame->opsets.end())
      return it->second;
  auto it = modelOpsets.find(domain);
  return it == modelOpsets.end() ? std::nullopt : std::optional(it->second);
}

Location GraphImporter::locationOf(const Node &node) {
  constexpr size_t kLongestName = 1024; // sources are for people
  auto text = [&](StringRef s) { return StringAttr::get(context, s.take_front(kLongestName)); };
  return NameLoc::get(text(nodeName(node)), NameLoc::get(text(node.opType)));
}

LogicalResult GraphImporter::report(const Twine &what, bool isUnsupported) {
  if (currentReported)
    return failure();
  currentReported = true;
  StringRef name = current ? nodeName(*current) : StringRef();
  std::string op = current ? printable(current->opType) + ": " : "";
  if (isUnsupported) {
    std::string domain = current && !current->domain.empty() ? " of " + printable(current->domain) : "";
    int64_t opset = current ? opsetOf(current->domain).value_or(0) : 0;
    issues.unsupported(name, printable(current ? current->opType : StringRef()) + domain + ", opset " +
                                 Twine(opset) + ": " + what);
  } else {
    issues.error(name, op + what);
  }
  return failure();
}

LogicalResult GraphImporter::diagnose(Diagnostic &d) {
  if (d.getSeverity() == DiagnosticSeverity::Note || d.getSeverity() == DiagnosticSeverity::Remark)
    return success();
  std::string text = d.str();
  StringRef message = text;
  // "'dl.add' op operands ..." -> "operands ...": the node names the op already.
  if (message.consume_front("'")) {
    message = message.split("' op ").second.empty() ? StringRef(text) : message.split("' op ").second;
  }
  message.consume_back("\n");
  if (d.getSeverity() == DiagnosticSeverity::Warning) {
    issues.warning(current ? nodeName(*current) : StringRef(), message);
    return success();
  }
  constexpr StringLiteral kUnsupported = "unsupported: ";
  bool isUnsupported = message.consume_front(kUnsupported);
  (void)report(message, isUnsupported);
  return success();
}

Node GraphImporter::resolveReferences(const Node &node) const {
  Node result = node;
  result.attrs.clear();
  for (const Attr &attr : node.attrs) {
    if (attr.reference.empty()) {
      result.attrs.push_back(attr);
      continue;
    }
    auto named = [&](const Attr &a) { return a.name == attr.reference; };
    const Attr *source = nullptr;
    if (auto it = llvm::find_if(frame->call.attrs, named); it != frame->call.attrs.end())
      source = &*it;
    else if (auto it = llvm::find_if(frame->function.defaults, named);
             it != frame->function.defaults.end())
      source = &*it;
    if (!source)
      continue; // an optional attribute that the call leaves out
    result.attrs.push_back(*source);
    result.attrs.back().name = attr.name;
  }
  return result;
}

bool GraphImporter::gatherInputs(const Node &node, Environment &env,
                                 SmallVectorImpl<Value> &inputs) {
  for (StringRef name : node.inputs) {
    inputs.push_back(name.empty() ? Value() : env.lookup(name));
    if (!name.empty() && !inputs.back())
      return false;
  }
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  return true;
}

void GraphImporter::importNode(const Node &node, OpBuilder &b, Environment &env) {
  const Node *outerNode = current;
  bool outerReported = currentReported;
  llvm::scope_exit restore([&] {
    current = outerNode;
    currentReported = outerReported;
  });
  current = &node;
  currentReported = false;
  for (StringRef output : node.outputs)
    if (!output.empty())
      env.values[output] = Value(); // until it is known
  bool refers = llvm::any_of(node.attrs, [](const Attr &a) { return !a.reference.empty(); });
  if (refers && !frame) {
    (void)report("refers to an attribute of a function, but is in none", false);
    return;
  }
  std::optional<Node> resolved;
  if (refers)
    current = &resolved.emplace(resolveReferences(node));
  if (const Function *function = functions.find(*current))
    importCall(*current, *function, b, env);
  else
    importOp(*current, b, env);
}

void GraphImporter::importOp(const Node &node, OpBuilder &b, Environment &env) {
  int64_t opset = opsetOf(node.domain).value_or(0);
  const OpEntry *entry = opRegistry().find(node.domain, node.opType);
  if (!entry || entry->since > opset) {
    (void)report(entry ? "the op came with opset " + Twine(entry->since) : Twine("the op is not supported"),
                 /*isUnsupported=*/true);
    return;
  }
  SmallVector<Value> inputs;
  if (!gatherInputs(node, env, inputs))
    return;
  if (inputs.size() < entry->minInputs || inputs.size() > entry->maxInputs) {
    bool tooMany = inputs.size() > entry->maxInputs;
    (void)report("has " + Twine(inputs.size()) + " inputs, expects at " + (tooMany ? "most " : "least ") +
                     Twine(tooMany ? entry->maxInputs : entry->minInputs),
                 false);
    return;
  }
  size_t errorsBefore = issues.errorCount();
  NodeContext c(*this, node, b, locationOf(node), opset, env, std::move(inputs));
  bool ok = succeeded(entry->handler(c)) && !c.failed() && issues.errorCount() == errorsBefore;
  if (!ok) {
    if (!issues.hasErrors())
      (void)report("cannot be imported", true);
    return;
  }
  if (StringRef unread = c.unreadAttribute(); !unread.empty()) {
    (void)report("attribute " + quoted(unread) + " is not known", true);
    return;
  }
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (name.empty())
      continue;
    if (!c.output(i)) {
      (void)report("output " + Twine(i) + ", " + quoted(name) + ", is not supported", true);
      return;
    }
    env.values[name] = c.output(i);
  }
}

void GraphImporter::importCall(const Node &node, const Function &function, OpBuilder &b,
                               Environment &env) {
  SmallVector<Value> inputs;
  if (!gatherInputs(node, env, inputs))
    return;
  if (inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    (void)report("the function takes " + Twine(function.inputs.size()) + " inputs and makes " +
                     Twine(function.outputs.size()) + " outputs; the call has " +
                     Twine(inputs.size()) + " and " + Twine(node.outputs.size()),
                 false);
    return;
  }
  Frame inner{node, function, frame, {}};
  for (const OpsetImport &import : function.opsets)
    inner.opsets.try_emplace(import.domain, import.version);
  const Frame *outer = std::exchange(frame, &inner);
  Environment local;
  llvm::StringSet<> omitted; // what reads these reads nothing, too
  for (auto [i, name] : llvm::enumerate(function.inputs)) {
    if (i < inputs.size() && inputs[i])
      local.values[name] = inputs[i];
    else
      omitted.insert(name);
  }
  auto isOmitted = [&](StringRef name) { return omitted.contains(name); };
  for (const Node &bodyNode : function.nodes) {
    if (!llvm::any_of(bodyNode.inputs, isOmitted)) {
      importNode(bodyNode, b, local);
      continue;
    }
    Node copy = bodyNode;
    for (StringRef &name : copy.inputs)
      if (isOmitted(name))
        name = "";
    importNode(copy, b, local);
  }
  frame = outer;
  for (auto [name, source] : llvm::zip(node.outputs, function.outputs))
    if (!name.empty())
      env.values[name] = local.lookup(source);
}

std::optional<SmallVector<Value>> GraphImporter::importGraph(const Graph &graph, OpBuilder &b,
                                                             ValueRange inputs,
                                                             const Environment &outer) {
  Environment env;
  env.outer = &outer;
  size_t errorsBefore = issues.errorCount();
  if (graph.inputs.size() != inputs.size()) {
    (void)report("its graph " + quoted(graph.name) + " takes " + Twine(graph.inputs.size()) +
                     " inputs, expects " + Twine(inputs.size()),
                 false);
    return std::nullopt;
  }
  addConstants(graph, b, env, /*areWeights=*/false);
  for (auto [input, value] : llvm::zip(graph.inputs, inputs))
    env.values[input.name] = value;
  for (const Node &node : graph.nodes)
    importNode(node, b, env);
  SmallVector<Value> outputs;
  for (const ValueInfo &output : graph.outputs) {
    outputs.push_back(env.lookup(output.name));
    if (!outputs.back())
      return std::nullopt;
  }
  if (issues.errorCount() != errorsBefore)
    return std::nullopt;
  return outputs;
}

} // namespace dlc::onnx
