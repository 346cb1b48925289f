// `dlc run`: inputs in, outputs out, or compared with what they should be.

#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/Compare.h"
#include "runtime/tools/dlc/Inputs.h"
#include "runtime/tools/dlc/Summary.h"
#include "runtime/tools/dlc/TestData.h"
#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Npy.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace dlc::cli {

namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string model, outputs, expected, testFolder, device = "cpu";
  InputOptions inputs;
  Tolerance tolerance;
  int threads = 0;
  bool profile = false, json = false;
};

void writeOutputs(const Model &model, const std::vector<Tensor> &outputs, const std::string &path) {
  if (hasExtension(path, ".npy")) {
    if (outputs.size() != 1)
      fail(DLC_USAGE, path, ": a .npy file holds one array, the model has ", outputs.size(),
           " outputs; write .npz");
    return writeNpy(path, *outputs[0]);
  }
  if (!hasExtension(path, ".npz"))
    fail(DLC_USAGE, "--outputs ", path, ": .npz and .npy files are written");
  std::vector<NamedView> arrays;
  for (size_t i = 0; i < outputs.size(); ++i)
    arrays.push_back({model.outputs[i].name, outputs[i].get()});
  writeNpz(path, arrays);
}

std::string tensorList(const Model &model, const std::vector<Tensor> &outputs) {
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i)
    text += (i ? ", " : "") + model.outputs[i].name + " " + typeText(*outputs[i]);
  return text;
}

/// By name; a file with one unnamed array is for the only output.
std::vector<Comparison> compareWithFile(const Model &model, const std::vector<Tensor> &outputs,
                                        const RunOptions &options) {
  std::vector<Comparison> results;
  for (NamedTensor &array : readArrays(options.expected)) {
    const Port *port = findPort(model.outputs, array.name);
    if (!port && !hasExtension(options.expected, ".npz") && outputs.size() == 1)
      port = &model.outputs[0];
    if (!port)
      fail(DLC_USAGE, options.expected, ": the model has no output ", inQuotes(array.name),
           "; it has ", portList(model.outputs));
    Tensor expected = fromNumpyCarrier(std::move(array.tensor), port->type, options.expected);
    const dlc_tensor &got = *outputs[port - model.outputs.data()];
    results.push_back(compareTensors(port->name, *expected, got, options.tolerance));
  }
  if (results.empty())
    fail(DLC_USAGE, options.expected, ": no arrays to compare with");
  return results;
}

/// Prints or collects; the worst disagreement is the command's error.
void finishComparisons(const std::vector<Comparison> &results, const std::string &from,
                       const RunOptions &options, Json &json, std::string &firstProblem) {
  for (const Comparison &result : results) {
    if (options.json)
      json["comparisons"].push_back(comparisonJson(result));
    else if (result.agrees())
      std::cout << "ok " << comparisonText(result) << "\n";
    if (!result.agrees())
      firstProblem += (firstProblem.empty() ? "" : "; ") + from + ": output " + comparisonText(result);
  }
}

int finish(const RunOptions &options, const Json &json, const std::string &problem) {
  if (options.json)
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  if (!problem.empty())
    fail(DLC_MISMATCH, problem);
  return DLC_OK;
}

/// Of a few runs, so that a busy machine shows less; the caller has warmed up.
std::vector<KernelTime> fastestProfile(Model &model, const std::vector<Tensor> &inputs,
                                       std::vector<Tensor> &outputs) {
  constexpr int mostRuns = 5;
  constexpr double enoughUs = 1e6;
  std::vector<KernelTime> fastest;
  double least = 0, all = 0;
  for (int i = 0; i < mostRuns && all < enoughUs; ++i) {
    std::vector<KernelTime> times;
    model.run(inputs, outputs, &times);
    double sum = 0;
    for (const KernelTime &time : times)
      sum += time.durationUs;
    all += sum;
    if (i == 0 || sum < least) {
      least = sum;
      fastest = std::move(times);
    }
  }
  return fastest;
}

int runTestFolder(Model &model, const RunOptions &options) {
  Json json = {{"model", options.model}};
  std::string problem;
  for (const std::string &folder : testDataSets(options.testFolder))
    finishComparisons(runTestData(model, folder, options.tolerance), folder, options, json, problem);
  return finish(options, json, problem);
}

int runModel(const RunOptions &options) {
  Model model(options.model, options.threads, options.device);
  if (!options.testFolder.empty())
    return runTestFolder(model, options);
  std::vector<Tensor> inputs = gatherInputs(model, options.inputs), outputs;
  std::vector<KernelTime> times;
  model.run(inputs, outputs);
  if (options.profile)
    times = fastestProfile(model, inputs, outputs);
  Json json = {{"model", options.model}, {"threads", dlc_model_threads(model.handle)}};
  if (!options.outputs.empty()) {
    writeOutputs(model, outputs, options.outputs);
    if (!options.json)
      std::cout << "wrote " << options.outputs << ": " << tensorList(model, outputs) << "\n";
  }
  if (options.json)
    json["outputs"] = outputsJson(model, outputs);
  else if (options.outputs.empty() && options.expected.empty())
    printOutputs(std::cout, model, outputs);
  if (options.profile && options.json)
    json["profile"] = profileJson(times);
  else if (options.profile)
    printProfile(std::cout, times);
  std::string problem;
  if (!options.expected.empty())
    finishComparisons(compareWithFile(model, outputs, options), options.expected, options, json, problem);
  return finish(options, json, problem);
}

} // namespace

void addRunCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "run an artifact");
  command->add_option("artifact", options->model, "what `dlc compile` wrote")->required();
  addInputOptions(*command, options->inputs);
  command->add_option("-o,--outputs", options->outputs, "write them: .npz by name, or .npy")
      ->type_name("FILE");
  command->add_option("--compare", options->expected, "expected outputs: .npz, .npy, .pb")
      ->type_name("FILE");
  command->add_option("--test-dir", options->testFolder,
                      "ONNX test data: input_N.pb, output_N.pb, here or in test_data_set_*")
      ->type_name("DIR")
      ->excludes("--inputs")->excludes("--image")->excludes("--random")
      ->excludes("--outputs")->excludes("--compare");
  command->add_option("--rtol", options->tolerance.relative, "relative to the expected value")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  command->add_option("--bf16-rtol", options->tolerance.leastBf16Relative,
                      "at least this for bf16: two ulps, as ONNX's own runner has it")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  command->add_option("--atol", options->tolerance.absolute, "absolute")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  command->add_option("--device", options->device,
                      "cpu, cuda, cuda:1, ..., cuda-sim")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: as many as the process may use")
      ->check(CLI::Range(0, 250));
  command->add_flag("--profile", options->profile, "time per kernel, of the fastest of five runs")->excludes("--test-dir");
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Example:\n"
                  "  dlc run resnet50.dlc --image cat.png --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
                  "  dlc run m.dlc --inputs in.npz --outputs out.npz --device=cuda");
  command->callback([options, &exitCode] { exitCode = runModel(*options); });
}

} // namespace dlc::cli
