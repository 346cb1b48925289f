// Arithmetic on scalars or vectors that chooses the instruction by the type:
// what Elementwise::buildScalar implementations are written in.

#ifndef DLC_DIALECTS_DL_SCALARMATH_H
#define DLC_DIALECTS_DL_SCALARMATH_H

#include "dialects/dl/Dl.h"

namespace dlc::dl {

/// True when the first operand of `op` holds unsigned integers or bools.
bool isUnsignedOperand(mlir::Operation *op);
mlir::Type elementOf(mlir::Value tensor);

struct ScalarMath {
  mlir::OpBuilder &b;
  mlir::Location loc;
  bool isUnsigned;

  using Value = mlir::Value;

  /// A constant of a scalar or vector type.
  Value constant(mlir::Type type, double value);
  Value integer(mlir::Type type, int64_t value);

  Value add(Value x, Value y);
  Value subtract(Value x, Value y);
  Value multiply(Value x, Value y);
  /// Integers: truncated, x / 0 = 0, and no trap for MIN / -1.
  Value divide(Value x, Value y);
  Value remainder(Value x, Value y);
  Value modulo(Value x, Value y);
  Value minimum(Value x, Value y);
  Value maximum(Value x, Value y);
  Value power(Value x, Value y);
  Value shift(Value x, Value y, bool left);
  Value compare(Comparison predicate, Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value abs(Value x);
  Value negate(Value x);
  Value sign(Value x);
  Value relu(Value x);
  Value sigmoid(Value x);
  Value invert(Value x);
  /// Between the compute types of two dl element types.
  Value cast(Value x, mlir::Type from, mlir::Type to);

private:
  Value toInteger(Value x, mlir::Type to, bool toUnsigned);
  Value narrowFloat(Value x, mlir::Type to);
};

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_SCALARMATH_H
