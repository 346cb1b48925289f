// `dlc train`: flags.

#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/train/Trainer.h"
#include "runtime/tools/dlc/train/TransformList.h"
#include "runtime/tools/io/Error.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace dlc::cli {

namespace {

const std::map<std::string, ScheduleKind> kSchedules = {{"constant", ScheduleKind::Constant},
                                                        {"step", ScheduleKind::Step},
                                                        {"cosine", ScheduleKind::Cosine},
                                                        {"one-cycle", ScheduleKind::OneCycle}};

/// Flags that the compiler checks and understands; here they are only handed on.
struct Forwarded {
  const char *flag, *help, *group;
  bool takesValue = true;
};
constexpr Forwarded kForwarded[] = {
    {"--loss-output", "the output that the loss is about (default: the first)", "Loss"},
    {"--label-smoothing", "cross-entropy: spread over all classes", "Loss"},
    {"--ignore-index", "targets of this class count nothing (-100)", "Loss"},
    {"--huber-delta", "where huber becomes linear (1)", "Loss"},
    {"--momentum", "sgd, rmsprop", "Optimizer"},
    {"--dampening", "sgd", "Optimizer"},
    {"--nesterov", "sgd: Nesterov's form", "Optimizer", false},
    {"--weight-decay", "added to gradients; adamw, lion: to weights", "Optimizer"},
    {"--beta1", "adam, adamw, lion (0.9)", "Optimizer"},
    {"--beta2", "adam, adamw, lion (0.999)", "Optimizer"},
    {"--alpha", "rmsprop (0.99)", "Optimizer"},
    {"--eps", "adam, adamw, rmsprop (1e-8), adagrad (1e-10)", "Optimizer"},
    {"--lr-decay", "adagrad", "Optimizer"},
    {"--initial-accumulator", "adagrad", "Optimizer"},
    {"--clip-norm", "largest norm of all gradients together", "Optimizer"},
    {"--clip-value", "largest gradient of one element", "Optimizer"},
    {"--freeze", "weights that are not trained: a name, or a glob like 'layer1.*'", "Optimizer"},
    {"--group", "weights with their own rate and decay: 'GLOB:lr=0.1,weight-decay=0'; lr is a factor", "Optimizer"},
    {"--average", "keep running averages of the weights, with this decay; --export writes those", "Optimizer"},
    {"--precision", "bf16, f16: contractions and convolutions; weights stay f32, f16 scales the loss", "Options"},
    {"--f32-ops", "that stay in f32 all the same: conv, conv_transpose, matmul", "Options"},
    {"--dim", "fix or bound a symbolic size: N=4, N=1..64", "Options"},
    {"--cpu", "compile for: native, x86-64-v3, ...", "Options"}};

void addForwarded(CLI::App &command, TrainOptions &options) {
  for (const Forwarded &forwarded : kForwarded) {
    std::string flag = forwarded.flag;
    CLI::Option *option =
        forwarded.takesValue
            ? command.add_option_function<std::vector<std::string>>(
                  flag,
                  [&options, flag](const std::vector<std::string> &values) {
                    for (const std::string &value : values)
                      options.forwarded.push_back(flag + "=" + value);
                  },
                  forwarded.help)
                  ->expected(1)->take_all()->type_name("VALUE")
            : command.add_flag_function(
                  flag, [&options, flag](int64_t) { options.forwarded.push_back(flag); },
                  forwarded.help);
    option->group(forwarded.group);
  }
}

void addSchedule(CLI::App &command, ScheduleOptions &schedule) {
  command.option_defaults()->group("Schedule");
  command.add_option("--lr", schedule.learningRate, "learning rate, the largest of the schedule")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  command.add_option_function<std::string>(
             "--schedule",
             [&schedule](const std::string &name) {
               auto found = kSchedules.find(name);
               if (found == kSchedules.end())
                 throw CLI::ValidationError("--schedule: '" + name +
                                            "' is none of constant, step, cosine, one-cycle");
               schedule.kind = found->second;
             },
             "constant, step, cosine, one-cycle")->type_name("NAME");
  command.add_option("--warmup", schedule.warmup, "updates that the rate takes to rise")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--lr-step", schedule.every, "step: updates between two drops")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--gamma", schedule.gamma, "step: the factor of a drop")->capture_default_str();
  command.add_option("--min-lr", schedule.least, "cosine: where it ends")
      ->check(CLI::NonNegativeNumber);
  command.option_defaults()->group("Options");
}

void addFiles(CLI::App &command, TrainOptions &options) {
  command.add_option("model", options.model,
                     "model.onnx exported to train, or what `dlc compile --train` wrote")
      ->required();
  CLI::Option *batches =
      command.add_option("--batches", options.batches, "arrays x and y (or of the inputs' names): one batch a row")
          ->type_name("NPZ");
  command.add_option("--data", options.data.path, "single samples, see below; made into batches")
      ->type_name("PATH")->excludes(batches);
  command.add_option("--validation", options.validation, "the same, to measure the model on; of a folder the test part")
      ->type_name("PATH");
  command.add_option("--validate-every", options.validateEvery, "steps (default: at the end)")
      ->check(CLI::PositiveNumber);
  command.add_option("--save", options.save, "parameters, moments and position, as safetensors")
      ->type_name("FILE");
  command.add_option("--save-every", options.saveEvery, "steps (default: at the end)")
      ->check(CLI::PositiveNumber);
  command.add_option("--keep", options.keep, "checkpoints to keep, the older ones as FILE-<steps>")
      ->check(CLI::Range(1, 100000));
  command.add_option("--save-best", options.best, "the one with the least validation loss")->type_name("FILE");
  command.add_option("--patience", options.patience, "end after so many validations without a better loss")
      ->check(CLI::PositiveNumber);
  command.add_option("--export", options.exported, "the model with trained weights, for inference")
      ->type_name("ONNX");
  CLI::Option *resume =
      command.add_option("--resume", options.resume, "go on where a saved run stopped")->type_name("FILE");
  command.add_option("--init", options.start, "start from the parameters in a safetensors file")
      ->type_name("FILE")->excludes(resume);
  command.add_option("--log", options.log, "losses and learning rates as JSON")->type_name("FILE");
  command.add_option("--csv", options.csv, "the same as CSV")->type_name("FILE");
  command.add_option("--tensorboard", options.tensorboard, "losses, rates and validations as TensorBoard reads them")
      ->type_name("FOLDER");
  command.add_option("--plot", options.plot, "the losses as SVG")->type_name("FILE");
}

void addData(CLI::App &command, DataOptions &data) {
  command.option_defaults()->group("Data");
  command.add_option("--batch-size", data.batchSize, "samples in a batch")->check(CLI::PositiveNumber)->capture_default_str();
  command.add_flag_callback("--no-shuffle", [&data] { data.shuffle = false; }, "take samples in their order");
  command.add_option("--transform", data.transforms,
                     "in this order, of the input or FIELD:...; see below")
      ->type_name("NAME[=NUMBERS]")->take_all()->expected(1);
  command.add_flag("--channels-last", data.channelsLast, "images as [h,w,c] (default: [c,h,w])");
  command.add_option("--workers", data.workers, "threads that decode and transform; 0: the training thread does")
      ->check(CLI::Range(0, 250))->capture_default_str();
  command.add_option("--readers", data.readers, "threads that only read; 0: the workers do")->check(CLI::Range(0, 250));
  command.add_option("--prefetch", data.prefetch, "batches ahead")->check(CLI::Range(1, 1000))->capture_default_str();
  command.add_option("--on-broken", data.onBroken, "a sample that cannot be read: fail, or replace by another")
      ->check(CLI::IsMember({"fail", "replace"}))->capture_default_str();
  command.add_option("--cache", data.cacheMegabytes, "MiB of memory for decoded samples")->check(CLI::Range(0, 1 << 24));
  command.add_option("--cache-file", data.cacheFile, "where more of them go")->type_name("FILE");
  command.add_option("--cache-file-size", data.cacheFileMegabytes, "MiB")->check(CLI::Range(0, 1 << 24));
  command.add_option("--token-length", data.tokenLength, "the data are a file of tokens; so many make a sample")
      ->check(CLI::PositiveNumber);
  command.add_option("--token-stride", data.tokenStride, "from sample to sample (default: their length)")
      ->check(CLI::PositiveNumber);
  command.add_option("--token-type", data.tokenType, "u8 (a text's bytes), u16, u32")
      ->check(CLI::IsMember({"u8", "u16", "u32"}))->capture_default_str();
  command.option_defaults()->group("Options");
}

} // namespace

void addTrainCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App *command = app.add_subcommand("train", "train a model");
  addFiles(*command, *options);
  command->add_option("--loss", options->loss, "cross-entropy, nll, bce-with-logits, mse, l1, huber, kl")
      ->capture_default_str();
  command->add_option("--class-axis", options->classAxis, "cross-entropy, nll: where the classes are")
      ->capture_default_str();
  command->add_option("--optimizer", options->optimizer, "sgd, adam, adamw, rmsprop, adagrad, lion")
      ->capture_default_str();
  auto *steps = command->add_option("--steps", options->steps, "batches (default: each once)")
                    ->check(CLI::PositiveNumber);
  command->add_option("--epochs", options->epochs, "how often all batches come")
      ->check(CLI::PositiveNumber)->excludes(steps);
  command->add_option("--accumulate", options->accumulate, "batches for one update of the parameters")
      ->check(CLI::Range(1, 1 << 20))->capture_default_str();
  command->add_option("--threads", options->threads, "0: as many as the process may use")
      ->check(CLI::Range(0, 250));
  command->add_option("--seed", options->seed, "of dropout")->capture_default_str();
  command->add_option("--device", options->device, "cpu, cuda, cuda:1, cuda-sim")
      ->capture_default_str();
  command->add_flag("-q,--quiet", options->quiet, "no progress");
  // Taken out before flags are parsed; here for the help.
  command->add_option("--config", "a TOML file of flags without their dashes: lr = 1e-3")->type_name("FILE");
  addData(*command, options->data);
  addSchedule(*command, options->schedule);
  addForwarded(*command, *options);
  command->footer("Example:\n"
                  "  dlc train model.onnx --batches batches.npz --loss cross-entropy --optimizer adam \\\n"
                  "    --lr 1e-3 --steps 20 --log log.json --save out.safetensors\n"
                  "  dlc train model.onnx --data mnist --validation mnist --epochs 5 --workers 2 --plot loss.svg\n"
                  "--data takes .npz, .csv and .tsv, .tar shards, and folders of MNIST's or CIFAR's files, of shards, or of\n"
                  "one folder a class, perhaps within train and test; with --token-length any file of tokens.\n"
                  "--transform knows " + transformHelp() + ".");
  command->callback([options, &exitCode] {
    if (options->batches.empty() && options->data.path.empty())
      fail(DLC_USAGE, "nothing to train on: give --data or --batches");
    train(*options);
    exitCode = DLC_OK;
  });
}

} // namespace dlc::cli
