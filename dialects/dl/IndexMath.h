// Index arithmetic inside lowered ops, and the loop that most ops which move
// data are written as: each result element fetches its source.

#ifndef DLC_DIALECTS_DL_INDEXMATH_H
#define DLC_DIALECTS_DL_INDEXMATH_H

#include "dialects/dl/LinalgLowering.h"

namespace dlc::dl {

struct IndexMath {
  mlir::OpBuilder &b;
  mlir::Location loc;

  using Value = mlir::Value;

  Value constant(int64_t value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  /// Truncated division and its rest; y must not be 0.
  Value div(Value x, Value y);
  Value rem(Value x, Value y);
  Value less(Value x, Value y);
  Value equal(Value x, Value y);
  Value both(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  /// i + size where i is negative.
  Value wrap(Value i, Value size);
  /// i forced into [0, size).
  Value clamp(Value i, Value size);
  /// A stored integer of the dl type `element` as an index.
  Value fromElement(Value stored, mlir::Type element);
  /// An index as a signless integer.
  Value toInteger(Value i, mlir::Type type);
  /// Element `i` of a lowered integer vector as an index.
  Value load(Value vector, int64_t i, mlir::Type element);
  Value fetch(Value tensor, mlir::ValueRange indices);
};

using FetchFn = llvm::function_ref<mlir::Value(
    IndexMath &, llvm::ArrayRef<mlir::Value> indices, mlir::ValueRange inputs)>;

/// An all-parallel loop over the shape of `like`; the body computes one
/// stored element from its indices and from `inputs` read through `maps`.
mlir::Value buildIndexed(LinalgLowering &l, mlir::Value like, FetchFn body,
                         mlir::ValueRange inputs = {},
                         llvm::ArrayRef<mlir::AffineMap> maps = {});

/// Copies `source` element by element into `target` (a slice of the same shape).
mlir::Value copyInto(LinalgLowering &l, mlir::Value source, mlir::Value target);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_INDEXMATH_H
