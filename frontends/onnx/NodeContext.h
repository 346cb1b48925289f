// What the handler of an ONNX op sees of one node.

#ifndef DLC_FRONTENDS_ONNX_NODECONTEXT_H
#define DLC_FRONTENDS_ONNX_NODECONTEXT_H

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/Registry.h"

#include "dialects/dl/Dl.h"

#include <optional>

namespace dlc::onnx {

/// Handlers read attributes and inputs, make dl ops, and set outputs. After a problem
/// every further make<Op>() gives null, so that calls can nest and one check at the
/// end (`done`) is enough. Attributes that no one read are refused afterwards.
class NodeContext {
public:
  using Value = mlir::Value;
  using Ints = llvm::SmallVector<int64_t>;

  NodeContext(GraphImporter &importer, const Node &node, mlir::OpBuilder &b,
              mlir::Location loc, int64_t opset, const Environment &env,
              llvm::SmallVector<Value> inputs)
      : node(node), b(b), loc(loc), opset(opset), importer(importer), env(env),
        inputs(std::move(inputs)), outputs(node.outputs.size()), wasRead(node.attrs.size()) {}

  const Node &node;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const int64_t opset; // of the node's domain

  // Inputs.
  size_t numInputs() const { return inputs.size(); }
  /// Null when omitted.
  Value input(size_t i) const { return i < inputs.size() ? inputs[i] : Value(); }
  bool hasInput(size_t i) const { return bool(input(i)); }
  llvm::ArrayRef<Value> allInputs() const { return inputs; }
  /// Of a missing input, which is reported: some type of high rank.
  mlir::RankedTensorType type(Value v) const {
    return v ? mlir::cast<mlir::RankedTensorType>(v.getType()) : missingType();
  }
  int64_t rank(Value v) const { return type(v).getRank(); }
  mlir::Type element(Value v) const { return type(v).getElementType(); }
  bool isFloat(Value v) const { return mlir::isa<mlir::FloatType>(element(v)); }
  bool isUnsigned(Value v) const { return element(v).isUnsignedInteger(); }
  /// The sizes of a tensor as expressions.
  dl::Shape dims(Value v) { return v ? importer.lookup(v).dims : dl::Shape(); }
  /// The elements of an integer tensor when they are known; none when computed.
  std::optional<Ints> constantInts(Value v) const;
  std::optional<llvm::SmallVector<double>> constantFloats(Value v) const;
  /// The constant that a value is; null when it is computed.
  mlir::ElementsAttr constantAttr(Value v) const;

  // Attributes. One of a wrong type is reported.
  bool has(StringRef name) const;
  int64_t intAttr(StringRef name, int64_t fallback);
  double floatAttr(StringRef name, double fallback);
  std::string stringAttr(StringRef name, StringRef fallback);
  Ints intsAttr(StringRef name, Ints fallback = {});
  llvm::SmallVector<double> floatsAttr(StringRef name);
  /// The element type that an attribute like Cast's `to` names; null when reported.
  mlir::Type elementTypeAttr(StringRef name, mlir::Type fallback = {});
  /// Null when absent or of another type (reported).
  const Attr *attribute(StringRef name, Attr::Type type);
  const Tensor *tensorAttr(StringRef name);
  const Graph *graphAttr(StringRef name);
  /// An attribute that changes nothing here.
  void ignoreAttr(StringRef name) { (void)find(name); }
  /// The first attribute that no one read; empty when there is none.
  StringRef unreadAttribute() const;
  /// Axis in [-rank, rank) made non-negative; reports one outside.
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// The same for a list, which may not name an axis twice.
  mlir::FailureOr<Ints> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  // Results.
  size_t numOutputs() const { return node.outputs.size(); }
  /// True when the model names this output.
  bool wants(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
  Value output(size_t i) const { return outputs[i]; }
  void setOutput(size_t i, Value v) {
    if (i < outputs.size())
      outputs[i] = v;
  }
  /// Sets output 0; fails when v is null (the problem is reported already).
  mlir::LogicalResult done(Value v) {
    setOutput(0, v);
    return mlir::success(bool(v));
  }
  /// Reports what dlc lacks, or what is wrong with the node.
  mlir::LogicalResult unsupported(const llvm::Twine &what);
  mlir::LogicalResult invalid(const llvm::Twine &what);
  bool failed() const { return hasFailed; }

  // Training.
  ImportMode mode() const;
  /// When training: after a run the weight `old` is to be `now`.
  void updateWeight(Value old, Value now);
  /// A weight that follows the data and is not trained.
  void markStatistic(Value weight);

  /// Marks an operand that may be left out; any other null operand is a problem.
  struct Omittable {
    Value value;
    operator Value() const { return value; }
  };

  // Making ops.
  /// The result of a new op, with its type inferred. Constants come out folded.
  template <typename OpTy, typename... Args> Value make(Args &&...args) {
    llvm::SmallVector<Value> results = makeMulti<OpTy>(1, std::forward<Args>(args)...);
    return results.empty() ? Value() : results[0];
  }
  /// All results of a new op; nulls after a problem.
  template <typename OpTy, typename... Args>
  llvm::SmallVector<Value> makeMulti(unsigned numResults, Args &&...args) {
    if (!hasFailed && (isNull(args) || ...))
      (void)invalid("an input is missing");
    if (hasFailed)
      return llvm::SmallVector<Value>(numResults);
    OpTy op;
    if constexpr (OpTy::template hasTrait<mlir::OpTrait::OneResult>())
      op = OpTy::create(b, loc, mlir::Type(b.getNoneType()), std::forward<Args>(args)...);
    else
      op = OpTy::create(b, loc, mlir::TypeRange(llvm::SmallVector<mlir::Type>(numResults, b.getNoneType())),
                        std::forward<Args>(args)...);
    return finish(op);
  }
  /// Types an op that was created by hand (inferred results), and folds it.
  llvm::SmallVector<Value> finish(mlir::Operation *op);

  Value constant(mlir::ElementsAttr value);
  /// The constant that an attribute gives; null when dl lacks its type (reported).
  Value tensor(const Tensor &tensor);
  /// An i64 vector.
  Value ints(llvm::ArrayRef<int64_t> values);
  /// A rank-0 tensor.
  Value scalar(mlir::Type element, double value);
  Value intScalar(mlir::Type element, int64_t value);
  Value shapeOf(Value v);
  Value reshape(Value v, llvm::ArrayRef<int64_t> shape);
  /// With sizes of another shape where `shape` is not static: an i64 vector value.
  Value reshape(Value v, Value shape);
  /// Elements [start, end) of a vector.
  Value slice(Value v, int64_t start, int64_t end);
  /// Element i of a vector, as a rank-0 tensor.
  Value extract(Value v, int64_t i);
  Value transpose(Value v, llvm::ArrayRef<int64_t> permutation);
  Value cast(Value v, mlir::Type to);
  mlir::DenseI64ArrayAttr array(llvm::ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); }

  /// Imports a subgraph at `at` (see GraphImporter::importGraph).
  std::optional<llvm::SmallVector<Value>> importGraph(const Graph &graph, mlir::OpBuilder &at,
                                                      mlir::ValueRange arguments);

  /// Gives a block argument what is known about the shape of `like`.
  void declareLike(Value argument, Value like);

private:
  mlir::RankedTensorType missingType() const;
  const Attr *find(StringRef name);
  template <typename T> static bool isNull(const T &arg) {
    if constexpr (std::is_same_v<std::decay_t<T>, Value>)
      return !arg;
    else
      return false;
  }

  GraphImporter &importer;
  const Environment &env;
  llvm::SmallVector<Value> inputs, outputs;
  llvm::SmallVector<bool> wasRead;
  mutable bool hasFailed = false;
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_NODECONTEXT_H
