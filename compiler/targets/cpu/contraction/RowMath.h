// Floating-point arithmetic on scalars and vectors for kernels that do more
// than multiply and add.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_ROWMATH_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_ROWMATH_H

#include "compiler/targets/cpu/contraction/KernelBuilder.h"

namespace dlc::cpu {

struct RowMath {
  explicit RowMath(KernelBuilder &m) : m(m) {}

  using Value = mlir::Value;

  Value constant(double value); // a scalar
  Value splat(double value) { return m.splat(constant(value)); }

  // Both operands are scalars, or both vectors.
  Value add(Value x, Value y);
  Value subtract(Value x, Value y);
  Value multiply(Value x, Value y);
  Value divide(Value x, Value y);
  Value maximum(Value x, Value y); // NaN when either is
  Value isEqual(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  /// e^x of a vector whose elements are not positive: half the work of math.exp.
  /// Below -87.3, where results would be denormal, 0.
  Value expNonPositive(Value x);
  Value tanh(Value x);

  Value firstLane(Value vector);
  Value reduceAdd(Value vector); // in a fixed order
  Value reduceMaximum(Value vector);

  void storeScalar(Value x, Value address);
  /// Bytes other than 0, one per lane; null `active`: all lanes exist.
  Value loadFlags(Value address, Value active);
  Value loadFlag(Value address);

  KernelBuilder &m;
};

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_ROWMATH_H
