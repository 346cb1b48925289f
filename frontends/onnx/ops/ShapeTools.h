// What handlers say about shapes: vectors of sizes that stay symbolic, and the
// movement ops with operands that may be computed.

#ifndef DLC_FRONTENDS_ONNX_OPS_SHAPETOOLS_H
#define DLC_FRONTENDS_ONNX_OPS_SHAPETOOLS_H

#include "frontends/onnx/NodeContext.h"

namespace dlc::onnx {

/// All functions give null for null operands or after an error was reported.
struct ShapeTools {
  NodeContext &c;

  using Value = mlir::Value;

  // i64 vectors.
  Value shape(Value v);
  Value size(Value v, int64_t axis);
  /// The elements at constant positions.
  Value pick(Value vector, llvm::ArrayRef<int64_t> positions);
  Value product(Value vector, int64_t begin, int64_t end);
  /// An integer input of any shape as an i64 vector.
  Value vector(Value v);
  /// 0, 1, ..., size - 1 for a vector of one element.
  Value iota(Value size);
  /// The length of a vector, when it is static.
  std::optional<int64_t> length(Value vector);

  /// Any tensor of one element as a rank-0 tensor.
  Value toScalar(Value v);
  Value reshapeTo(Value v, Value shape);
  /// The shape of `v` with an axis of size 1 more.
  Value unsqueeze(Value v, int64_t axis);
  /// Without an axis, whose size is 1.
  Value dropAxis(Value v, int64_t axis);
  Value concat(llvm::ArrayRef<Value> parts, int64_t axis = 0);
  Value expandTo(Value v, Value shape);
  /// v[..., start:end, ...]; both are i64 vectors of one element.
  Value slice(Value v, int64_t axis, Value start, Value end);
  Value slice(Value v, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  Value gather(Value v, Value indices, int64_t axis);
  Value compare(mlir::StringRef predicate, Value x, Value y);
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_OPS_SHAPETOOLS_H
