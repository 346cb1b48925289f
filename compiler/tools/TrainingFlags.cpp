#include "compiler/tools/TrainingFlags.h"

#include <map>
#include <set>

namespace dlc {

namespace {

const std::map<std::string, LossKind> kLosses = {
    {"cross-entropy", LossKind::CrossEntropy}, {"nll", LossKind::Nll},
    {"bce-with-logits", LossKind::BceWithLogits}, {"mse", LossKind::Mse},
    {"l1", LossKind::L1}, {"huber", LossKind::Huber}, {"kl", LossKind::Kl}};

const std::map<std::string, OptimizerKind> kOptimizers = {
    {"sgd", OptimizerKind::Sgd}, {"adam", OptimizerKind::Adam},
    {"adamw", OptimizerKind::AdamW}, {"rmsprop", OptimizerKind::RmsProp},
    {"adagrad", OptimizerKind::Adagrad}, {"lion", OptimizerKind::Lion}};

const std::map<std::string, Precision> kPrecisions = {
    {"f32", Precision::F32}, {"bf16", Precision::BF16}, {"f16", Precision::F16}};
// What they stay wide in.
const std::set<std::string> kNarrowOps = {"conv", "conv_transpose", "matmul"};

template <typename Kind> std::string namesOf(const std::map<std::string, Kind> &kinds) {
  std::string names;
  for (const auto &[name, kind] : kinds)
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

template <typename Kind>
CLI::Option *addKind(CLI::App &app, const char *flag, Kind &kind,
                     const std::map<std::string, Kind> &kinds) {
  return app
      .add_option_function<std::string>(
          flag,
          [&kind, &kinds, flag](const std::string &name) {
            auto found = kinds.find(name);
            if (found == kinds.end())
              throw CLI::ValidationError(std::string(flag) + ": '" + name + "' is none of " +
                                         namesOf(kinds));
            kind = found->second;
          },
          namesOf(kinds))
      ->type_name("NAME");
}

void addLossFlags(CLI::App &app, LossOptions &loss) {
  addKind(app, "--loss", loss.kind, kLosses);
  app.add_option("--loss-output", loss.output, "the output that it is about (default: the first)");
  app.add_flag("--soft-targets", loss.softTargets, "cross-entropy: targets are probabilities");
  app.add_option("--class-axis", loss.classAxis, "cross-entropy, nll: where the classes are")
      ->capture_default_str();
  app.add_option("--label-smoothing", loss.labelSmoothing, "cross-entropy: spread over all classes")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--ignore-index", loss.ignoreIndex, "targets of this class count nothing")
      ->capture_default_str();
  app.add_option("--huber-delta", loss.huberDelta, "where huber becomes linear")
      ->check(CLI::PositiveNumber)->capture_default_str();
}

void addOptimizerFlags(CLI::App &app, OptimizerOptions &optimizer) {
  addKind(app, "--optimizer", optimizer.kind, kOptimizers);
  app.add_option("--momentum", optimizer.momentum, "sgd, rmsprop")->check(CLI::NonNegativeNumber);
  app.add_option("--dampening", optimizer.dampening, "sgd");
  app.add_flag("--nesterov", optimizer.nesterov, "sgd: Nesterov's form");
  app.add_option("--weight-decay", optimizer.weightDecay, "added to gradients; adamw, lion: to weights")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--beta1", optimizer.beta1, "adam, adamw, lion")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--beta2", optimizer.beta2, "adam, adamw, lion")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--alpha", optimizer.alpha, "rmsprop")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--eps", optimizer.epsilon, "adam, adamw, rmsprop, adagrad")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--lr-decay", optimizer.learningRateDecay, "adagrad")->check(CLI::NonNegativeNumber);
  app.add_option("--initial-accumulator", optimizer.initialAccumulator, "adagrad")
      ->check(CLI::NonNegativeNumber);
}

/// "GLOB:lr=0.1,weight-decay=0"
ParameterGroup parseGroup(const std::string &text) {
  auto refuse = [&](const std::string &why) -> ParameterGroup {
    throw CLI::ValidationError("--group: '" + text + "': " + why + "; expected GLOB:lr=0.1,weight-decay=0");
  };
  ParameterGroup group;
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    return refuse("there is no glob in front of a colon");
  group.pattern = text.substr(0, colon);
  for (const std::string &setting : CLI::detail::split(text.substr(colon + 1), ',')) {
    size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    double value = -1;
    bool isNumber = equals != std::string::npos && CLI::detail::lexical_cast(setting.substr(equals + 1), value);
    if ((name != "lr" && name != "weight-decay") || !isNumber || !(value >= 0))
      return refuse("'" + setting + "' is no rate or decay");
    (name == "lr" ? group.learningRate : group.weightDecay) = value;
  }
  return group;
}

} // namespace

void addTrainingFlags(CLI::App &app, TrainingOptions &options) {
  app.add_flag("--train", options.enabled, "forward, backward and optimizer as one program");
  app.option_defaults()->group("Training");
  addLossFlags(app, options.loss);
  addOptimizerFlags(app, options.optimizer);
  app.add_option("--clip-norm", options.clipNorm, "largest norm of all gradients together")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--clip-value", options.clipValue, "largest gradient of one element")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--freeze", options.frozen, "weights that are not trained: names, or globs like 'layer1.*'")
      ->type_name("GLOB")->expected(1)->take_all();
  app.add_option_function<std::vector<std::string>>(
         "--group",
         [&options](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             options.groups.push_back(parseGroup(text));
         },
         "weights with their own rate and decay: 'GLOB:lr=0.1,weight-decay=0'; lr is a factor")
      ->type_name("GROUP")->expected(1)->take_all();
  app.add_option("--average", options.averageDecay, "keep running averages of the weights, with this decay (0.999)")
      ->check(CLI::Range(0.0, 1.0));
  addKind(app, "--precision", options.precision.compute, kPrecisions)
      ->description("of contractions and convolutions; weights stay f32, f16 scales the loss: bf16, f16, f32");
  app.add_option("--f32-ops", options.precision.wideOps, "that stay in f32 all the same: conv, conv_transpose, matmul")
      ->check(CLI::IsMember(kNarrowOps))->type_name("OP")->expected(1)->take_all();
  app.add_flag("--accumulate", options.accumulate, "grad_step and apply_step in place of train_step");
  app.add_option("--seed", options.seed, "of dropout and other draws")->capture_default_str();
  app.option_defaults()->group("Options");
}

} // namespace dlc
