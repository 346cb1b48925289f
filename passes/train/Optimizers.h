// One optimizer step for one parameter, in dl ops.

#ifndef DLC_PASSES_TRAIN_OPTIMIZERS_H
#define DLC_PASSES_TRAIN_OPTIMIZERS_H

#include "passes/train/Emitter.h"
#include "passes/train/Options.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <memory>

namespace dlc {

/// The tensors beside each parameter that an optimizer keeps, by their names in PyTorch.
llvm::SmallVector<llvm::StringRef> momentsOf(const OptimizerOptions &options);
/// What a moment starts from.
double initialMoment(const OptimizerOptions &options);

class Optimizer {
public:
  /// `learningRate` is an f64 and `step` an i64 of rank 0; `step` counts from 1.
  Optimizer(Emitter &e, const OptimizerOptions &options, mlir::Value learningRate,
            mlir::Value step);

  /// The new parameter and the new moments.
  llvm::SmallVector<mlir::Value> update(mlir::Value parameter, mlir::Value gradient,
                                        llvm::ArrayRef<mlir::Value> moments);

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  Values sgd(Value p, Value g, llvm::ArrayRef<Value> moments);
  Values adam(Value p, Value g, llvm::ArrayRef<Value> moments);
  Values rmsProp(Value p, Value g, llvm::ArrayRef<Value> moments);
  Values adagrad(Value p, Value g, llvm::ArrayRef<Value> moments);
  Values lion(Value p, Value g, llvm::ArrayRef<Value> moments);

  double epsilon() const;
  /// 1 - beta^step, in f64.
  Value biasCorrection(double beta);
  /// An f64 of rank 0 in the element type of `like`; every one is made once.
  Value as(Value scalar, Value like);
  /// p * (1 - lr * decay)
  Value decayed(Value p);
  /// old + (target - old) * weight
  Value towards(Value old, Value target, double weight);

  Emitter &e;
  const OptimizerOptions &options;
  Value learningRate, step, decayFactor, stepSize, rootOfBias;
  llvm::DenseMap<std::pair<Value, mlir::Type>, Value> casts;
};

/// One optimizer for each group of parameters that is trained in its own way.
class OptimizerGroups {
public:
  OptimizerGroups(Emitter &e, const TrainingOptions &options, mlir::Value learningRate, mlir::Value step)
      : e(e), options(options), learningRate(learningRate), step(step) {}

  Optimizer &of(llvm::StringRef parameter);

private:
  struct Member {
    OptimizerOptions options;
    std::unique_ptr<Optimizer> optimizer;
  };
  Emitter &e;
  const TrainingOptions &options;
  mlir::Value learningRate, step;
  std::map<size_t, Member> members; // by the number of the group; behind the last: of none
};

} // namespace dlc

#endif // DLC_PASSES_TRAIN_OPTIMIZERS_H
