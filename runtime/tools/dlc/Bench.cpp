// `dlc bench`: how fast an artifact runs, how sure that is, and what limits it.

#include "runtime/tools/dlc/Bench.h"

#include "runtime/tools/dlc/Artifact.h"
#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/Inputs.h"
#include "runtime/tools/dlc/Machine.h"
#include "runtime/tools/dlc/Peak.h"
#include "runtime/tools/dlc/Summary.h"
#include "runtime/tools/dlc/Table.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <sys/resource.h>

namespace dlc::cli {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct BenchOptions {
  std::string model;
  InputOptions inputs;
  int threads = 0;
  int warmup = 3;
  int64_t runs = 0; // 0: as many as fit in `seconds`
  double seconds = 3;
  bool profile = false, json = false;
};

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double peakRssMb() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Runs until time or count are used up; outputs are reused, as in service.
std::vector<double> timeRuns(Model &model, const std::vector<Tensor> &inputs,
                             std::vector<Tensor> &outputs, const BenchOptions &options) {
  for (int i = 0; i < options.warmup; ++i)
    model.run(inputs, outputs);
  constexpr size_t fewest = 5, most = 1000000;
  std::vector<double> times;
  auto start = Clock::now();
  auto wanted = [&] {
    if (options.runs > 0)
      return times.size() < static_cast<size_t>(options.runs);
    return times.size() < fewest ||
           (times.size() < most && millisecondsSince(start) < options.seconds * 1e3);
  };
  while (wanted()) {
    auto before = Clock::now();
    model.run(inputs, outputs);
    times.push_back(millisecondsSince(before));
  }
  return times;
}

double tensorBytes(const std::vector<Tensor> &tensors) {
  double sum = 0;
  for (const Tensor &tensor : tensors)
    sum += static_cast<double>(dlc_tensor_size_bytes(tensor.get()));
  return sum;
}

double sumFlops(const std::vector<KernelTime> &times) {
  double sum = 0;
  for (const KernelTime &time : times)
    sum += time.flops;
  return sum;
}

BenchResult measure(const BenchOptions &options, std::vector<KernelTime> &profile) {
  BenchResult result;
  Machine machine = readMachine();
  auto start = Clock::now();
  Model model(options.model, options.threads);
  result.loadMs = millisecondsSince(start);
  result.threads = dlc_model_threads(model.handle);
  result.quotaCores = machine.quotaCores;
  result.affinityCores = machine.affinityCores;
  std::vector<Tensor> inputs = gatherInputs(model, options.inputs), outputs;
  result.peakBeforeGflops = measurePeakGflops(result.threads);
  std::vector<double> times = timeRuns(model, inputs, outputs, options);
  result.peakAfterGflops = measurePeakGflops(result.threads);
  model.run(inputs, outputs, &profile);
  result.peakRssMb = peakRssMb(); // before the bandwidth test takes memory
  result.flops = sumFlops(profile);
  result.setTimes(std::move(times));
  // What a run cannot avoid reading or writing; activations come on top.
  result.leastBytes = Artifact(options.model).usedConstantBytes() + tensorBytes(inputs) +
                      tensorBytes(outputs);
  result.cacheBytes = static_cast<double>(machine.lastCacheBytes);
  if (result.leastBytes > result.cacheBytes)
    result.readGbPerS = measureReadGbPerS(result.threads, machine.lastCacheBytes);
  return result;
}

Json resultJson(const BenchOptions &options, const BenchResult &result) {
  Json json = {{"artifact", options.model},
               {"median_ms", result.medianMs},
               {"min_ms", result.minMs},
               {"p90_ms", result.p90Ms},
               {"load_ms", result.loadMs},
               {"peak_rss_mb", result.peakRssMb},
               {"gflops", result.gflops()},
               {"percent_of_peak", result.percentOfPeak()},
               {"peak_gflops", result.peakGflops()},
               {"flops", result.flops},
               {"threads", result.threads},
               {"runs", result.runs},
               {"noise", result.noise},
               {"remarks", result.remarks()}};
  if (result.readGbPerS > 0)
    json["read_gb_per_s"] = result.readGbPerS;
  return json;
}

void printResult(const BenchOptions &options, const BenchResult &result) {
  std::cout << options.model << ", " << result.threads << " threads, " << result.runs << " runs\n";
  Table table({">median ms", ">min ms", ">p90 ms", ">load ms", ">peak MiB", ">GFLOP/s", ">% of peak"});
  table.add({fixed(result.medianMs, 3), fixed(result.minMs, 3), fixed(result.p90Ms, 3),
             fixed(result.loadMs, 2), fixed(result.peakRssMb, 1), fixed(result.gflops(), 1),
             fixed(result.percentOfPeak(), 1)});
  table.print(std::cout);
  for (const std::string &remark : result.remarks())
    std::cout << "- " << remark << "\n";
}

int bench(const BenchOptions &options) {
  std::vector<KernelTime> profile;
  BenchResult result = measure(options, profile);
  if (options.json) {
    Json json = resultJson(options, result);
    if (options.profile)
      json["profile"] = profileJson(profile);
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return DLC_OK;
  }
  printResult(options, result);
  if (options.profile)
    printProfile(std::cout, profile);
  return DLC_OK;
}

} // namespace

void addBenchCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand("bench", "time an artifact");
  command->add_option("artifact", options->model, "what `dlc compile` wrote")->required();
  addInputOptions(*command, options->inputs);
  command->add_option("--threads", options->threads, "0: as many as the process may use")
      ->check(CLI::Range(0, 250));
  command->add_option("--warmup", options->warmup, "runs before the clock starts")
      ->check(CLI::Range(0, 1000000))->capture_default_str();
  command->add_option("--runs", options->runs, "how many; default: what fits in --seconds")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--seconds", options->seconds, "how long to measure")
      ->check(CLI::Range(0.0, 3600.0))->capture_default_str();
  command->add_flag("--profile", options->profile, "also time per kernel");
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Example:\n"
                  "  dlc bench resnet50.dlc --threads 1 --random 1\n"
                  "  dlc bench m.dlc --threads 1 --inputs in.npz --json");
  command->callback([options, &exitCode] { exitCode = bench(*options); });
}

} // namespace dlc::cli
