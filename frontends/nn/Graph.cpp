#include "frontends/nn/Graph.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace dlc::nn {

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (const Dim &dim : shape)
    text += (text.size() > 1 ? ", " : "") +
            (dim.isFixed() ? std::to_string(dim.size) : dim.isUnknown() ? "?" : dim.name);
  return text + "]";
}

const Dim &Value::dim(int64_t axis) const {
  int64_t index = axis < 0 ? axis + rank() : axis;
  if (index < 0 || index >= rank())
    throw Error("'" + name() + "' has shape " + toString(shape()) + ", there is no axis " + std::to_string(axis));
  return shape()[index];
}

Graph::Graph(std::string name, uint64_t seed) : name(std::move(name)), seed(seed) {}

Value Graph::make(std::string name, ElementType type, Shape shape) {
  auto place = std::lower_bound(names.begin(), names.end(), name);
  if (place != names.end() && *place == name)
    throw Error("graph '" + this->name + "' has two values named '" + name + "'");
  names.insert(place, name);
  return Value(this, std::make_shared<Value::Info>(Value::Info{std::move(name), type, std::move(shape)}));
}

std::string Graph::uniqueName(const std::string &name) {
  std::string candidate = name;
  for (int64_t n = 1; std::binary_search(names.begin(), names.end(), candidate); ++n)
    candidate = name + "_" + std::to_string(n);
  return candidate;
}

void Graph::checkOwn(const Value &value) const {
  if (value.owner != this)
    throw Error("'" + value.name() + "' is a value of another graph than '" + name + "'");
}

Value Graph::input(const std::string &name, ElementType type, Shape shape) {
  Value value = make(name, type, std::move(shape));
  inputs.push_back(value.info);
  return value;
}

void Graph::output(const std::string &name, Value value) {
  checkOwn(value);
  // Through a node of its own: a value may be an input, a parameter, or two outputs.
  Value::Info renamed{name, value.type(), value.shape()};
  Value result = make(name, renamed.type, renamed.shape);
  graphNodes.push_back({uniqueName(name + "/Identity"), "Identity", {value.info}, {result.info}, {}, 1, 1});
  outputs.push_back(result.info);
}

Value Graph::parameter(const std::string &name, std::vector<int64_t> sizes, const Init &init) {
  uint64_t count = 1;
  for (int64_t size : sizes) {
    if (size <= 0 || count > uint64_t(std::numeric_limits<int32_t>::max()) / uint64_t(size))
      throw Error("parameter '" + name + "' cannot have sizes " + toString(Shape(sizes.begin(), sizes.end())));
    count *= uint64_t(size);
  }
  Value value = make(name, ElementType::Float32, Shape(sizes.begin(), sizes.end()));
  parameters.push_back({value.info, draw(init, seed, name, count)});
  return value;
}

Value Graph::constant(Tensor tensor) {
  Result result{tensor.type, Shape(tensor.sizes.begin(), tensor.sizes.end())};
  return node("Constant", {}, std::move(result), {{"value", std::move(tensor)}});
}

Value Graph::constant(float value) {
  return constant(Tensor{ElementType::Float32, {}, std::string(reinterpret_cast<const char *>(&value), sizeof value)});
}

Value Graph::constant(std::vector<int64_t> values) {
  std::string bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int64_t));
  return constant(Tensor{ElementType::Int64, {int64_t(values.size())}, std::move(bytes)});
}

Value Graph::node(const std::string &op, std::vector<Value> inputs, Result result,
                  std::vector<Attribute> attributes) {
  std::vector<const Value *> pointers;
  for (const Value &input : inputs)
    pointers.push_back(&input);
  size_t numInputs = inputs.size();
  return nodes(op, std::move(pointers), {std::move(result)}, std::move(attributes), numInputs, 1)[0];
}

std::vector<Value> Graph::nodes(const std::string &op, std::vector<const Value *> inputs,
                                std::vector<Result> results, std::vector<Attribute> attributes,
                                size_t numInferenceInputs, size_t numInferenceResults) {
  std::string nodeName = uniqueName(prefix.empty() ? op : prefix + "/" + op);
  Node node{nodeName, op, {}, {}, std::move(attributes), numInferenceInputs, numInferenceResults};
  for (const Value *input : inputs) {
    if (input)
      checkOwn(*input);
    node.inputs.push_back(input ? input->info : nullptr);
  }
  std::vector<Value> made;
  for (Result &result : results) {
    std::string own = made.empty() ? nodeName : uniqueName(nodeName + "." + std::to_string(made.size()));
    made.push_back(make(own, result.type, std::move(result.shape)));
    node.results.push_back(made.back().info);
  }
  graphNodes.push_back(std::move(node));
  return made;
}

uint64_t Graph::numParameters() const {
  uint64_t count = 0;
  for (const Parameter &parameter : parameters)
    count += parameter.values.size();
  return count;
}

Scope Scope::operator/(const std::string &name) const {
  Scope inner = *this;
  inner.where = where.empty() ? name : where + "." + name;
  return inner;
}

Value Scope::parameter(const std::string &leaf, std::vector<int64_t> sizes, const Init &init) const {
  return owner->parameter((*this / leaf).where, std::move(sizes), init);
}

void Scope::fail(const std::string &message) const {
  throw Error((where.empty() ? "model" : where) + ": " + message);
}

NameScope::NameScope(const Scope &scope) : graph(scope.graph()), outer(graph.prefix) {
  graph.prefix = scope.path();
}
NameScope::~NameScope() { graph.prefix = outer; }

} // namespace dlc::nn
