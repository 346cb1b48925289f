// Training in 16 bits with master weights of 32.

#ifndef DLC_PASSES_TRAIN_MIXEDPRECISION_H
#define DLC_PASSES_TRAIN_MIXEDPRECISION_H

#include "passes/train/Options.h"
#include "passes/train/StepBuilder.h"

namespace dlc {

/// Contractions and convolutions of f32 are computed in the precision of the options, each
/// behind casts of its operands and before one of its result; ops that only move elements
/// move narrow ones. Their gradients follow from that. All else stays in f32.
void lowerPrecision(mlir::func::FuncOp function, const PrecisionOptions &options);

/// Dynamic loss scaling (Micikevicius et al., Mixed Precision Training, ICLR 2018): the
/// loss is multiplied by a scale before it is differentiated, so that small gradients do
/// not become 0 in f16. Where a gradient overflows, the update is left out and the scale is
/// halved; after 2000 updates without, it is doubled.
class LossScale {
public:
  /// Without scaling where the options ask for none. The state is made when it is needed.
  LossScale(StepBuilder &s, const PrecisionOptions &options);

  /// What to differentiate the loss with; null: one.
  mlir::Value seed(mlir::Value loss);
  /// Gradients that were scaled, as they should be.
  void unscale(llvm::MutableArrayRef<mlir::Value> gradients);
  /// Sees whether all gradients are finite, and moves the scale; before updates.
  void check(llvm::ArrayRef<mlir::Value> gradients);
  /// `now`, or `before` where check() saw an overflow.
  mlir::Value guarded(mlir::Value now, mlir::Value before);

private:
  StepBuilder &s;
  bool isOn;
  mlir::BlockArgument scale;
  mlir::Value isFinite;
};

} // namespace dlc

#endif // DLC_PASSES_TRAIN_MIXEDPRECISION_H
