// `dlc inspect`: what is in an artifact.

#include "runtime/tools/dlc/Artifact.h"
#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/Inputs.h"
#include "runtime/tools/dlc/MemoryPlan.h"
#include "runtime/tools/dlc/Table.h"
#include "runtime/tools/dlc/Weights.h"
#include "runtime/tools/dlc/gpu/KernelReport.h"
#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Npy.h"
#include "runtime/schema/EntryView.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <iostream>
#include <map>
#include <memory>

namespace dlc::cli {

namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string path, svg, extract, gpu = "H100";
  std::map<std::string, int64_t> dims;
  bool kernels = false, weights = false, json = false;
};

struct Sizes {
  double file = 0, constants = 0, code = 0;
};

Sizes sizesOf(const Artifact &artifact) {
  Sizes sizes;
  sizes.file = static_cast<double>(artifact.bytes().size());
  for (const schema::Constant *constant : *artifact.table().constants())
    sizes.constants += static_cast<double>(constant->size_bytes());
  for (const schema::Code *code : *artifact.table().codes())
    sizes.code += static_cast<double>(code->size_bytes());
  return sizes;
}

int64_t countDispatches(const Artifact &artifact) {
  int64_t count = 0;
  artifact.forEachDispatch([&](const schema::Dispatch &, int) { ++count; });
  return count;
}

std::string symbolText(const schema::DimSymbol &symbol) {
  std::string upper = symbol.upper() == INT64_MAX ? "" : std::to_string(symbol.upper());
  return text(symbol.name()) + " in " + std::to_string(symbol.lower()) + ".." + upper;
}

void printSignature(const Artifact &artifact) {
  const schema::Artifact &table = artifact.table();
  Table rows({"", "name", "type"});
  for (uint32_t value : *table.inputs())
    rows.add({"input", text(artifact.value(value).name()), artifact.valueType(value)});
  for (uint32_t value : *table.outputs())
    rows.add({"output", text(artifact.value(value).name()), artifact.valueType(value)});
  rows.print(std::cout);
  std::string symbols;
  for (const schema::DimSymbol *symbol : *table.symbols())
    symbols += (symbols.empty() ? "" : ", ") + symbolText(*symbol);
  if (!symbols.empty())
    std::cout << "sizes: " << symbols << "\n";
}

void printSizes(const Artifact &artifact) {
  const schema::Artifact &table = artifact.table();
  Sizes sizes = sizesOf(artifact);
  std::cout << "file " << bytesText(sizes.file) << ": " << table.constants()->size()
            << " constants " << bytesText(sizes.constants) << " (kernels read "
            << bytesText(artifact.usedConstantBytes()) << ", the rest are the model's own weights), code " << bytesText(sizes.code);
  for (const schema::Code *code : *table.codes())
    std::cout << " " << text(code->target()) << "/" << text(code->cpu());
  std::cout << "\n"
            << table.nodes()->size() << " nodes -> " << table.kernels()->size() << " kernels in "
            << countDispatches(artifact) << " dispatches"
            << " (--kernels lists them)\n";
}

/// Of an artifact that trains: its programs, and what lives from run to run.
void printStates(const Artifact &artifact) {
  const schema::Artifact &table = artifact.table();
  if (table.entries() && table.entries()->size() > 0) {
    std::cout << "entries:";
    for (uint32_t i = 0; i < schema::entryCount(table); ++i)
      std::cout << (i ? ", " : " ") << schema::entryAt(table, i).name;
    std::cout << " (shown is the first)\n";
  }
  std::map<std::string, std::pair<size_t, double>> roles;
  for (uint32_t i = 0; table.states() && i < table.states()->size(); ++i) {
    const schema::State &state = *table.states()->Get(i);
    auto &[count, bytes] = roles[text(state.role())];
    const auto *dims = state.dims();
    ++count;
    bytes += static_cast<double>(dlc_type_size_bytes(dlc_type(state.element()), dims ? dims->data() : nullptr,
                                                     dims ? static_cast<int>(dims->size()) : 0));
  }
  for (const auto &[role, total] : roles)
    std::cout << "states: " << total.first << " of role " << role << ", " << bytesText(total.second) << "\n";
}

void printPlan(const MemoryPlan &plan) {
  std::cout << "arena " << bytesText(static_cast<double>(plan.arenaBytes)) << " for "
            << plan.placements.size() << " buffers, at most "
            << bytesText(static_cast<double>(plan.lowerBoundBytes)) << " alive at once";
  if (plan.arenaBytes > plan.staticBytes)
    std::cout << "; placed when a run knows its sizes";
  if (plan.unknown)
    std::cout << "; " << plan.unknown << " more whose size only the data decide";
  std::cout << "\n";
  drawPlan(std::cout, plan);
}

void printKernels(const Artifact &artifact) {
  Table rows({"kernel", "operands", "nodes"});
  artifact.forEachDispatch([&](const schema::Dispatch &dispatch, int depth) {
    std::string operands;
    if (dispatch.operands())
      for (uint32_t value : *dispatch.operands())
        operands += (operands.empty() ? "" : " ") + artifact.valueType(value);
    rows.add({std::string(2 * depth, ' ') + text(artifact.table().kernels()->Get(dispatch.kernel())->name()),
              shortened(operands, 72), artifact.nodeNames(dispatch)});
  });
  rows.print(std::cout);
}

void printWeights(const Artifact &artifact) {
  Table rows({"weight", "type", ">size"});
  for (const Weight &weight : weightsOf(artifact))
    rows.add({shortened(weight.name, 64), typeText(*weight.tensor),
              bytesText(static_cast<double>(dlc_tensor_size_bytes(weight.tensor.get())))});
  rows.print(std::cout);
}

Json portsJson(const Artifact &artifact, const flatbuffers::Vector<uint32_t> &values) {
  Json list = Json::array();
  for (uint32_t value : values)
    list.push_back({{"name", text(artifact.value(value).name())}, {"type", artifact.valueType(value)}});
  return list;
}

Json artifactJson(const Artifact &artifact, const MemoryPlan &plan) {
  const schema::Artifact &table = artifact.table();
  Sizes sizes = sizesOf(artifact);
  Json json = {{"artifact", artifact.path}, {"model", text(table.model_name())},
               {"producer", text(table.producer())}, {"format_version", table.format_version()},
               {"inputs", portsJson(artifact, *table.inputs())},
               {"outputs", portsJson(artifact, *table.outputs())}, {"symbols", Json::array()},
               {"file_bytes", sizes.file}, {"constant_bytes", sizes.constants},
               {"used_constant_bytes", artifact.usedConstantBytes()},
               {"code_bytes", sizes.code}, {"codes", Json::array()}, {"kernels", Json::array()},
               {"weights", Json::array()},
               {"arena_bytes", plan.arenaBytes}, {"arena_lower_bound_bytes", plan.lowerBoundBytes},
               {"buffers", Json::array()}};
  for (const schema::DimSymbol *symbol : *table.symbols())
    json["symbols"].push_back({{"name", text(symbol->name())}, {"lower", symbol->lower()}, {"upper", symbol->upper()}});
  for (const Weight &weight : weightsOf(artifact))
    json["weights"].push_back({{"name", weight.name}, {"type", typeText(*weight.tensor)}});
  for (const schema::Code *code : *table.codes())
    json["codes"].push_back({{"target", text(code->target())}, {"cpu", text(code->cpu())}, {"bytes", code->size_bytes()}});
  artifact.forEachDispatch([&](const schema::Dispatch &dispatch, int depth) {
    json["kernels"].push_back({{"name", text(table.kernels()->Get(dispatch.kernel())->name())},
                               {"nodes", artifact.nodeNames(dispatch)}, {"depth", depth}});
  });
  for (const Placement &p : plan.placements)
    json["buffers"].push_back({{"name", p.name}, {"type", p.type}, {"offset", p.offset},
                               {"bytes", p.sizeBytes}, {"first", p.first}, {"last", p.last}});
  return json;
}

void extractWeights(const Artifact &artifact, const std::string &path) {
  if (!hasExtension(path, ".npz"))
    fail(DLC_USAGE, "--extract ", path, ": weights are written to .npz");
  std::vector<Weight> weights = weightsOf(artifact);
  std::vector<NamedView> views;
  for (const Weight &weight : weights)
    views.push_back({weight.name, weight.tensor.get()});
  writeNpz(path, views);
}

int inspect(const InspectOptions &options) {
  Artifact artifact(options.path);
  SymbolValues symbols = symbolValues(artifact, options.dims);
  const GpuModel &gpu = gpuModelNamed(options.gpu);
  MemoryPlan plan = memoryPlan(artifact, symbols);
  if (!options.extract.empty())
    extractWeights(artifact, options.extract);
  if (!options.svg.empty()) {
    std::string svg = planSvg(plan, options.path);
    writeFile(options.svg, std::array<std::string_view, 1>{svg});
  }
  if (options.json) {
    Json json = artifactJson(artifact, plan);
    json["gpu_kernels"] = gpuKernelsJson(kernelInsights(artifact, symbols, gpu), gpu);
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return DLC_OK;
  }
  const schema::Artifact &table = artifact.table();
  std::cout << options.path << ": " << text(table.model_name()) << ", by " << text(table.producer())
            << ", format " << table.format_version() << "\n";
  printSignature(artifact);
  printSizes(artifact);
  printStates(artifact);
  if (options.kernels) {
    printKernels(artifact);
    printGpuKernels(kernelInsights(artifact, symbols, gpu), gpu);
  }
  if (options.weights)
    printWeights(artifact);
  printPlan(plan);
  return DLC_OK;
}

} // namespace

void addInspectCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "show what is in an artifact");
  command->add_option("artifact", options->path, "what `dlc compile` wrote")->required();
  command->add_flag("--kernels", options->kernels, "which nodes became which kernels, and what CUDA kernels take of a GPU");
  command->add_option("--gpu", options->gpu, "the GPU whose occupancy and roofline time --kernels tells: " + gpuNames())
      ->capture_default_str();
  command->add_flag("--weights", options->weights, "the model's weights, by ONNX name");
  command->add_option("--svg", options->svg, "write the memory plan as a picture")->type_name("FILE");
  command->add_option("--extract", options->extract, "write all weights, by ONNX name, to .npz")
      ->type_name("FILE");
  addDimOption(*command, options->dims, "a symbolic size to plan memory for (default 1)");
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Example:\n"
                  "  dlc inspect resnet50.dlc --kernels --dim N=8 --svg plan.svg");
  command->callback([options, &exitCode] { exitCode = inspect(*options); });
}

} // namespace dlc::cli
