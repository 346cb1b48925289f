// What the handler of an ONNX op sees of one node.

#ifndef DLC_FRONTENDS_ONNX_NODECONTEXT_H
#define DLC_FRONTENDS_ONNX_NODECONTEXT_H

#include "frontends/onnx/Model.h"

#include "dialects/dl/Dl.h"

#include <map>
#include <optional>

namespace dlc::onnx {

class GraphImporter;

class NodeContext {
public:
  NodeContext(GraphImporter &importer, const Node &node, mlir::OpBuilder &b,
              mlir::Location loc, int64_t opset)
      : importer(importer), node(node), b(b), loc(loc), opset(opset),
        outputs(node.outputs.size()) {}

  using Value = mlir::Value;
  using Ints = llvm::SmallVector<int64_t>;

  GraphImporter &importer;
  const Node &node;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const int64_t opset; // of the node's domain

  // Inputs.
  size_t numInputs() const { return inputs.size(); }
  /// Null when omitted.
  Value input(size_t i) const { return i < inputs.size() ? inputs[i] : Value(); }
  bool wants(size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }
  mlir::RankedTensorType type(Value v) const {
    return mlir::cast<mlir::RankedTensorType>(v.getType());
  }
  int64_t rank(Value v) const { return type(v).getRank(); }
  mlir::Type element(Value v) const { return type(v).getElementType(); }
  bool isFloat(Value v) const { return mlir::isa<mlir::FloatType>(element(v)); }
  /// The elements of a constant integer input; none when it is computed.
  std::optional<Ints> constantInts(Value v) const;
  std::optional<llvm::SmallVector<double>> constantFloats(Value v) const;

  // Attributes. A wrong type is an error that the importer reports.
  bool has(std::string_view name) const { return node.find(name); }
  int64_t intAttr(std::string_view name, int64_t fallback);
  double floatAttr(std::string_view name, double fallback);
  std::string stringAttr(std::string_view name, std::string_view fallback);
  Ints intsAttr(std::string_view name, Ints fallback = {});
  llvm::SmallVector<double> floatsAttr(std::string_view name);
  const Attribute *attribute(std::string_view name, AttributeType type);
  /// Axis in [-rank, rank) made non-negative; reports one outside.
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  mlir::FailureOr<Ints> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  // Results.
  void setOutput(size_t i, Value v) {
    if (i < outputs.size())
      outputs[i] = v;
  }
  /// Sets the only output; fails when v is null (the error is out already).
  mlir::LogicalResult done(Value v) {
    setOutput(0, v);
    return mlir::success(bool(v));
  }
  mlir::LogicalResult unsupported(const llvm::Twine &what);
  mlir::LogicalResult invalid(const llvm::Twine &what);

  /// make<Op>; null operands make a null result, so that calls can nest.
  template <typename OpTy, typename... Args> Value make(Args &&...args) {
    if (((isNullValue(args)) || ...))
      return {};
    auto op = dl::make<OpTy>(b, loc, std::forward<Args>(args)...);
    return op ? Value(op->getResult(0)) : Value();
  }
  /// An i64 vector.
  Value ints(llvm::ArrayRef<int64_t> values);
  /// A rank-0 tensor.
  Value scalar(mlir::Type element, double value);
  Value reshape(Value v, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value v, llvm::ArrayRef<int64_t> permutation);
  Value cast(Value v, mlir::Type to);
  mlir::DenseI64ArrayAttr array(llvm::ArrayRef<int64_t> values) {
    return b.getDenseI64ArrayAttr(values);
  }

  llvm::SmallVector<Value> inputs, outputs;
  bool attributeError = false;

private:
  template <typename T> static bool isNullValue(const T &arg) {
    if constexpr (std::is_same_v<std::decay_t<T>, Value>)
      return !arg;
    else
      return false;
  }
};

using Handler = mlir::LogicalResult (*)(NodeContext &);

/// Handlers by op name. Each family adds its own; see Registry.cpp.
using Registry = std::map<std::string_view, Handler>;
const Registry &opRegistry();

/// The newest opset of the default domain that the handlers know.
inline constexpr int64_t kNewestOpset = 26;
/// The oldest one.
inline constexpr int64_t kOldestOpset = 1;

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_NODECONTEXT_H
