// A model under construction: values with their shapes, nodes, parameters. It is saved as
// ONNX, which is what dlc reads, so that every other tool reads it, too.

#ifndef DLC_FRONTENDS_NN_GRAPH_H
#define DLC_FRONTENDS_NN_GRAPH_H

#include "frontends/nn/Init.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace dlc::nn {

/// What was asked for cannot be built; says where and why.
struct Error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// With ONNX's numbers.
enum class ElementType { Float32 = 1, Int64 = 7, Bool = 9 };

/// A size: a number, a name for one that only a run knows, or neither where it follows
/// from others in a way that is not written down.
struct Dim {
  Dim(int64_t size) : size(size) {}
  Dim(int size) : size(size) {}
  Dim(const char *name) : name(name) {}
  Dim(std::string name) : name(std::move(name)) {}
  static Dim unknown() { return Dim(int64_t(-1)); }

  bool isFixed() const { return size >= 0; }
  bool isUnknown() const { return size < 0 && name.empty(); }
  bool operator==(const Dim &other) const = default;

  int64_t size = -1;
  std::string name;
};
using Shape = std::vector<Dim>;

/// "[N, 3, 32, 32]"
std::string toString(const Shape &shape);

class Graph;

/// A tensor in a graph; cheap to copy.
class Value {
public:
  const std::string &name() const { return info->name; }
  ElementType type() const { return info->type; }
  const Shape &shape() const { return info->shape; }
  int64_t rank() const { return int64_t(info->shape.size()); }
  /// The size of an axis, from the end when negative.
  const Dim &dim(int64_t axis) const;
  Graph &graph() const { return *owner; }

private:
  friend class Graph;
  struct Info {
    std::string name;
    ElementType type;
    Shape shape;
  };
  Value(Graph *owner, std::shared_ptr<Info> info) : owner(owner), info(std::move(info)) {}

  Graph *owner;
  std::shared_ptr<Info> info;
};

/// A tensor of known contents.
struct Tensor {
  ElementType type;
  std::vector<int64_t> sizes;
  std::string bytes; // little-endian, row-major
};

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>, std::string, Tensor> value;
  bool isForTraining = false; // left out of the form for inference
};

struct Result {
  ElementType type;
  Shape shape;
};

/// What is saved: BatchNormalization and Dropout as they train, or as they infer.
enum class Form { Training, Inference };

class Graph {
public:
  /// `seed` and a parameter's name decide its first values: adding a layer changes no other.
  explicit Graph(std::string name, uint64_t seed = 0);
  Graph(const Graph &) = delete;

  Value input(const std::string &name, ElementType type, Shape shape);
  /// Makes `value` a result of the model.
  void output(const std::string &name, Value value);

  /// A named tensor that training changes. Throws when the name is taken.
  Value parameter(const std::string &name, std::vector<int64_t> sizes, const Init &init);

  Value constant(Tensor tensor);
  Value constant(float value);
  Value constant(std::vector<int64_t> values);

  /// An ONNX op. Its shapes are the caller's word.
  Value node(const std::string &op, std::vector<Value> inputs, Result result,
             std::vector<Attribute> attributes = {});

  /// One with results, or inputs from `numInferenceInputs` on, that only training has. An
  /// input that is absent is a default-constructed optional.
  std::vector<Value> nodes(const std::string &op, std::vector<const Value *> inputs,
                           std::vector<Result> results, std::vector<Attribute> attributes,
                           size_t numInferenceInputs, size_t numInferenceResults);

  /// Writes the file. Throws Error when the graph has no output or the file cannot be
  /// written, or is larger than the 2 GiB that one ONNX file can be.
  void save(const std::filesystem::path &path, Form form = Form::Training) const;
  std::string serialize(Form form = Form::Training) const;

  uint64_t numParameters() const; // elements of all of them

private:
  friend class NameScope;
  struct Node {
    std::string name, op;
    std::vector<std::shared_ptr<Value::Info>> inputs, results; // null: absent
    std::vector<Attribute> attributes;
    size_t numInferenceInputs, numInferenceResults;
  };
  struct Parameter {
    std::shared_ptr<Value::Info> info;
    std::vector<float> values;
  };

  Value make(std::string name, ElementType type, Shape shape);
  std::string uniqueName(const std::string &name);
  void checkOwn(const Value &value) const;

  std::string name, prefix;
  uint64_t seed;
  std::vector<std::string> names; // all that are taken, sorted
  std::vector<std::shared_ptr<Value::Info>> inputs, outputs;
  std::vector<Parameter> parameters;
  std::vector<Node> graphNodes;
};

/// Where parameters are named: `scope / "encoder" / 0` gives "encoder.0.weight".
class Scope {
public:
  Scope(Graph &graph) : owner(&graph) {} // NOLINT: a graph is its own outermost scope
  Scope operator/(const std::string &name) const;
  Scope operator/(int64_t index) const { return *this / std::to_string(index); }

  Value parameter(const std::string &leaf, std::vector<int64_t> sizes, const Init &init) const;
  Graph &graph() const { return *owner; }
  const std::string &path() const { return where; }

  /// Throws Error with the scope in front of the message.
  [[noreturn]] void fail(const std::string &message) const;

private:
  Graph *owner;
  std::string where;
};

/// Nodes made while it lives are named after `scope`.
class NameScope {
public:
  explicit NameScope(const Scope &scope);
  ~NameScope();
  NameScope(const NameScope &) = delete;

private:
  Graph &graph;
  std::string outer;
};

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_GRAPH_H
