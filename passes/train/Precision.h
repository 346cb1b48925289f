// What keeps the rounding errors of a training program small.

#ifndef DLC_PASSES_TRAIN_PRECISION_H
#define DLC_PASSES_TRAIN_PRECISION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

/// (x + b) - mean(x + b) -> x - mean(x), b constant along the axes of the mean: a bias in
/// front of a normalization cancels. Its gradient, 0, would else be rounding errors, which
/// an optimizer that divides by their size takes for a direction.
void cancelBiasInNormalizations(mlir::func::FuncOp function);

/// Sums of many f32 are taken in f64 and rounded once.
void widenSums(mlir::func::FuncOp function);

} // namespace dlc

#endif // DLC_PASSES_TRAIN_PRECISION_H
