// What a training program should be. No LLVM types: the command line fills it in.

#ifndef DLC_PASSES_TRAIN_OPTIONS_H
#define DLC_PASSES_TRAIN_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc {

enum class LossKind { CrossEntropy, Nll, BceWithLogits, Mse, L1, Huber, Kl };
enum class OptimizerKind { Sgd, Adam, AdamW, RmsProp, Adagrad, Lion };

struct LossOptions {
  LossKind kind = LossKind::CrossEntropy;
  /// Which output of the model it is about; empty: the first.
  std::string output;
  /// Cross-entropy: targets are probabilities with the shape of the logits, not classes.
  bool softTargets = false;
  double labelSmoothing = 0;
  int64_t classAxis = -1;
  int64_t ignoreIndex = -100; // targets of this class count nothing
  double huberDelta = 1;
};

/// Names and meanings as in PyTorch.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::Adam;
  double momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999;
  double alpha = 0.99;   // RMSprop's
  double epsilon = -1;   // negative: the optimizer's own
  double learningRateDecay = 0, initialAccumulator = 0; // Adagrad's
};

/// Parameters that are trained otherwise; the first group whose glob matches counts.
struct ParameterGroup {
  std::string pattern;
  double learningRate = 1; // times that of the run
  double weightDecay = -1; // negative: that of the run
};

enum class Precision { F32, BF16, F16 };

struct PrecisionOptions {
  /// Of contractions and convolutions; parameters and all else are f32. f16 scales the loss.
  Precision compute = Precision::F32;
  std::vector<std::string> wideOps; // that stay in f32 all the same: "conv", "matmul"
};

struct TrainingOptions {
  bool enabled = false;
  LossOptions loss;
  OptimizerOptions optimizer;
  std::vector<ParameterGroup> groups;
  double averageDecay = 0; // of the running averages of parameters; 0: none are kept
  PrecisionOptions precision;
  double clipNorm = 0, clipValue = 0; // 0: none
  std::vector<std::string> frozen;    // parameters that stay as they are: globs
  /// Gradients are summed over several batches by `grad_step` and applied by
  /// `apply_step`, in place of `train_step`.
  bool accumulate = false;
  uint64_t seed = 0; // of dropout and other draws
};

} // namespace dlc

#endif // DLC_PASSES_TRAIN_OPTIONS_H
