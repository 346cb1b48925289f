#include "runtime/tools/dlc/train/Trainer.h"

#include "runtime/tools/dlc/train/Checkpoint.h"
#include "runtime/tools/dlc/train/EventLog.h"
#include "runtime/tools/dlc/train/Metrics.h"
#include "runtime/tools/dlc/train/Progress.h"
#include "runtime/tools/dlc/train/Schedule.h"
#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/File.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <optional>
#include <span>
#include <unistd.h>

namespace dlc::cli {

namespace {

volatile std::sig_atomic_t isStopped = 0;

/// The first signal asks for an end after this step; a second one ends at once.
void listenForStop() {
  struct sigaction action = {};
  action.sa_handler = [](int) { isStopped = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}

/// A file name that is gone again at the end.
class TemporaryArtifact {
public:
  TemporaryArtifact() {
    const char *folder = getenv("TMPDIR");
    path = std::string(folder && *folder ? folder : "/tmp") + "/dlc-train-XXXXXX";
    int descriptor = mkstemp(path.data());
    if (descriptor < 0)
      fail(DLC_USAGE, path, ": cannot write: ", std::strerror(errno));
    close(descriptor);
  }
  ~TemporaryArtifact() { unlink(path.c_str()); }
  TemporaryArtifact(const TemporaryArtifact &) = delete;
  std::string path;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Trainer {
public:
  Trainer(const TrainOptions &options, const std::string &artifact, Source &batches, Source *validation)
      : options(options), infer(artifact, options.threads, options.device),
        step(infer, options.accumulate > 1 ? "grad_step" : "train_step"), batches(batches),
        validation(validation) {
    if (options.accumulate > 1)
      apply.emplace(infer, "apply_step");
    target = targetOf(step);
    batches.bind(step.inputs, target);
    check(dlc_tensor_create(DLC_F64, nullptr, 0, &rate));
    rateOwner.reset(rate);
    if (!options.resume.empty())
      position = resumeCheckpoint(options.resume, infer);
    else if (!options.start.empty())
      loadParameters(options.start, infer);
    batches.seek(position.steps, position.notes);
    record.firstStep = position.steps;
    if (!options.tensorboard.empty())
      events.emplace(options.tensorboard);
    steps = options.steps > 0 ? options.steps
                              : batches.count() * std::max<int64_t>(options.epochs, 1);
    if (validation) {
      eval.emplace(infer, "eval");
      validation->bind(eval->inputs, target);
    }
  }

  void run() {
    auto start = std::chrono::steady_clock::now();
    listenForStop();
    Progress progress(steps, options.quiet);
    while (position.steps < steps && !isStopped && !hasStalled()) {
      runStep(progress);
      bool isLast = position.steps == steps;
      if (eval && options.validateEvery > 0 && position.steps % options.validateEvery == 0 && !isLast)
        runValidation(progress);
      if (options.saveEvery > 0 && position.steps % options.saveEvery == 0 && !isLast)
        save();
    }
    progress.finish();
    // The rest of a window that the batches did not fill counts, too.
    if (apply && position.steps == steps && position.steps % options.accumulate != 0)
      update();
    if (eval && (record.validations.empty() || record.validations.back().step != position.steps))
      runValidation(progress);
    record.seconds = secondsSince(start);
    save();
    if (!options.exported.empty())
      exportModel(options.model, options.exported, infer);
    report();
  }

private:
  /// The input of the step that the model itself has not.
  std::string targetOf(const Model &model) const {
    for (const Port &port : model.inputs)
      if (!findPort(infer.inputs, port.name) && port.name != "lr")
        return port.name;
    fail(DLC_USAGE, model.path, ": its step takes no targets");
  }

  int64_t updatesInAll() const {
    return (steps + options.accumulate - 1) / options.accumulate;
  }

  void runStep(Progress &progress) {
    auto before = std::chrono::steady_clock::now();
    double learningRate = learningRateAt(options.schedule, position.updates, updatesInAll());
    batches.next();
    std::vector<Tensor> inputs, outputs;
    for (const Port &port : step.inputs)
      if (port.name == "lr")
        inputs.push_back(rateTensor(learningRate));
      else
        inputs.push_back(batches.tensor(port.name));
    double waited = secondsSince(before);
    step.run(inputs, outputs);
    ++position.steps;
    if (!apply)
      ++position.updates;
    else if (position.steps % options.accumulate == 0)
      update();
    double loss = elementValue(*outputs[lossAt()], 0);
    record.losses.push_back(loss);
    record.learningRates.push_back(learningRate);
    record.samples += batches.samples();
    record.dataSeconds += waited;
    progress.step(position.steps, loss, batches.samples(), waited);
    if (events) {
      events->scalar("loss", position.steps, loss);
      events->scalar("learning_rate", position.steps, learningRate);
      flushEvents();
    }
  }

  size_t lossAt() const {
    const Port *port = findPort(step.outputs, "loss");
    if (!port)
      fail(DLC_USAGE, step.path, ": its step gives no loss");
    return port - step.outputs.data();
  }

  Tensor rateTensor(double learningRate) const {
    *static_cast<double *>(dlc_tensor_data(rate)) = learningRate;
    dlc_tensor *wrapped = nullptr;
    check(dlc_tensor_wrap(DLC_F64, nullptr, 0, dlc_tensor_data(rate), sizeof(double), &wrapped));
    return Tensor(wrapped);
  }

  void update() {
    std::vector<Tensor> inputs, outputs;
    inputs.push_back(rateTensor(learningRateAt(options.schedule, position.updates, updatesInAll())));
    apply->run(inputs, outputs);
    ++position.updates;
  }

  void runValidation(Progress &progress) {
    Validation result = validate(*eval, *validation, target, options);
    result.step = position.steps;
    std::ostringstream line;
    line << "validation after step " << result.step << ": loss " << std::setprecision(6) << result.loss;
    for (const auto &[name, value] : result.metrics)
      line << ", " << name << " " << value;
    progress.note(line.str());
    if (events) {
      events->scalar("validation/loss", result.step, result.loss);
      for (const auto &[name, value] : result.metrics)
        events->scalar("validation/" + name, result.step, value);
    }
    if (!options.best.empty() && isBest(result.loss))
      writeCheckpoint(options.best);
    record.validations.push_back(std::move(result));
  }

  /// Often enough to be watched, seldom enough to cost nothing.
  void flushEvents() {
    constexpr auto interval = std::chrono::seconds(1);
    auto time = std::chrono::steady_clock::now();
    if (time - eventsFlushed < interval)
      return;
    events->flush();
    eventsFlushed = time;
  }

  bool isBest(double loss) const {
    return std::ranges::none_of(record.validations, [&](const Validation &v) { return v.loss <= loss; });
  }

  /// The last `patience` validations were no better than one before them.
  bool hasStalled() const {
    auto all = std::span(record.validations);
    size_t patience = static_cast<size_t>(options.patience);
    if (patience == 0 || all.size() <= patience)
      return false;
    return std::ranges::min(all, {}, &Validation::loss).step < all[all.size() - patience].step;
  }

  void writeCheckpoint(const std::string &path) {
    position.notes = {{"format", "dlc"}, {"optimizer", options.optimizer}, {"loss", options.loss},
                      {"seed", std::to_string(options.seed)}};
    position.notes.merge(batches.notes());
    saveCheckpoint(path, infer, position);
  }

  void save() {
    if (events)
      events->flush();
    if (!options.save.empty())
      writeCheckpoint(options.save);
    if (!options.save.empty() && options.keep > 1)
      keepCheckpoint(options.save, position.steps, options.keep);
    if (!options.log.empty())
      writeJson(options.log, record, options);
    if (!options.csv.empty())
      writeCsv(options.csv, record);
    if (!options.plot.empty())
      writePlot(options.plot, record);
  }

  void report() const {
    if (std::string remark = batches.remark(); !remark.empty())
      std::cerr << "warning: " << remark << "\n";
    if (hasStalled())
      std::cout << "stopped after step " << position.steps << " of " << steps << ": no better validation in the last "
                << options.patience << "\n";
    if (isStopped)
      std::cout << "stopped after step " << position.steps << " of " << steps
                << (options.save.empty() ? "" : "; go on with --resume " + options.save) << "\n";
    if (record.losses.empty() || isStopped)
      return;
    std::cout << "trained " << record.losses.size() << " steps in " << std::fixed
              << std::setprecision(1) << record.seconds << " s: loss " << std::defaultfloat
              << std::setprecision(6) << record.losses.front() << " -> " << record.losses.back()
              << (options.save.empty() ? "" : "; wrote " + options.save) << "\n";
  }

  const TrainOptions &options;
  Model infer, step;
  std::optional<Model> apply, eval;
  Source &batches;
  Source *const validation;
  std::string target;
  dlc_tensor *rate = nullptr;
  Tensor rateOwner;
  Position position;
  Record record;
  std::optional<EventLog> events;
  std::chrono::steady_clock::time_point eventsFlushed;
  int64_t steps = 0;
};

} // namespace

void train(const TrainOptions &options) {
  std::unique_ptr<Source> batches = openTraining(options), validation = openValidation(options);
  if (hasExtension(options.model, ".dlc") && !options.exported.empty())
    fail(DLC_USAGE, "--export needs the ONNX model, not an artifact");
  if (hasExtension(options.model, ".dlc"))
    return Trainer(options, options.model, *batches, validation.get()).run();
  TemporaryArtifact artifact;
  compileToTrain(options, *batches, validation.get(), artifact.path);
  Trainer trainer(options, artifact.path, *batches, validation.get());
  unlink(artifact.path.c_str()); // it is mapped
  trainer.run();
}

} // namespace dlc::cli
