// dlc-compiler: the half of `dlc` that needs LLVM. `dlc compile` and
// `dlc check` execute it, so that `dlc run` never maps LLVM.

#include "compiler/Compile.h"
#include "compiler/tools/TrainingFlags.h"
#include "runtime/schema/CodeCache.h"

#include <CLI/CLI.hpp>

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <charconv>
#include <new>
#include <unistd.h>

using namespace dlc;

namespace {

/// "N=4" or "N=1..64" into the bounds of a symbol.
std::string parseDim(const std::string &text, CompileOptions &options) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return "--dim expects NAME=SIZE or NAME=LOW..HIGH, got '" + text + "'";
  std::string range = text.substr(equals + 1);
  size_t dots = range.find("..");
  std::string low = range.substr(0, dots);
  std::string high = dots == std::string::npos ? low : range.substr(dots + 2);
  int64_t bounds[2];
  const std::string *parts[] = {&low, &high};
  for (int i : {0, 1}) {
    auto [end, error] = std::from_chars(
        parts[i]->data(), parts[i]->data() + parts[i]->size(), bounds[i]);
    if (error != std::errc() || end != parts[i]->data() + parts[i]->size())
      return "--dim: '" + *parts[i] + "' is not a size";
  }
  if (bounds[0] < 0 || bounds[1] < bounds[0])
    return "--dim: " + text + " has no size in it";
  options.dims[text.substr(0, equals)] = {bounds[0], bounds[1]};
  return "";
}

/// "x=16,3,28,28", or "16,3,28,28" for the only input.
std::string parseShape(const std::string &text, CompileOptions &options) {
  size_t equals = text.find('=');
  std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  std::string sizes = equals == std::string::npos ? text : text.substr(equals + 1);
  std::vector<int64_t> shape;
  for (const char *at = sizes.data(), *end = at + sizes.size(); at != end;) {
    auto [next, error] = std::from_chars(at, end, shape.emplace_back());
    if (error != std::errc() || shape.back() < 0 || (next != end && *next != ','))
      return "--shape expects NAME=SIZE,SIZE,..., got '" + text + "'";
    at = next == end ? end : next + 1;
  }
  options.shapes[name] = shape;
  return "";
}

void addModelOptions(CLI::App &app, CompileOptions &options) {
  app.add_option("model", options.input, "model.onnx, or dl IR as model.mlir")
      ->required();
  app.add_option_function<std::vector<std::string>>(
         "--dim",
         [&options](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             if (std::string error = parseDim(text, options); !error.empty())
               throw CLI::ValidationError(error);
         },
         "fix or bound a symbolic size: N=4, N=1..64")
      ->type_name("NAME=SIZE")
      ->expected(1)
      ->take_all();
  app.add_option_function<std::vector<std::string>>(
         "--shape",
         [&options](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             if (std::string error = parseShape(text, options); !error.empty())
               throw CLI::ValidationError(error);
         },
         "fix all sizes of an input: x=16,3,28,28")
      ->type_name("NAME=SIZES")
      ->expected(1)
      ->take_all();
}

void addCompileOptions(CLI::App &app, CompileOptions &options) {
  addModelOptions(app, options);
  app.add_option("-o,--output", options.output, "the artifact (default: MODEL.dlc)");
  app.add_option("--target", options.target,
                 "cpu, cuda:sm_90, cuda:compute_80, cuda:source; several with commas")
      ->capture_default_str();
  app.add_option("--cpu", options.cpu,
                 "native, x86-64-v2, x86-64-v3, x86-64-v4, znver4, ...")
      ->capture_default_str();
  app.add_option("--stop-after", options.stopAfter,
                 "print the IR after a phase: import, train, shapes, graph, "
                 "layout, constants, kernels, plan");
  app.add_option("--dump-dir", options.dumpDir, "write the IR of every phase there");
  app.add_flag("--print-ir-after-all", options.printIrAfterAll,
               "print the IR after every pass");
  app.add_flag("-v,--verbose", options.verbose, "time of every phase, statistics");
  app.add_flag("--json", options.json, "the summary as JSON");
  app.add_flag("!--no-layout", options.layout, "keep the model's own layout");
  app.add_flag("!--no-fuse", options.fuse, "one kernel per op");
  app.add_option("--budget-s", options.budgetSeconds,
                 "seconds after which the compiler skips optional work");
  app.add_option("--budget-mb", options.budgetMegabytes,
                 "memory above which the compiler skips optional work");
  app.add_option("--threads", options.threads, "compiler threads (0: one per core)");
  options.cacheDir = schema::CodeCache::defaultFolder();
  app.add_option("--cache-dir", options.cacheDir,
                 "where compiled CUDA kernels are kept (default: the user's cache; empty: nowhere)");
  addTrainingFlags(app, options.training);
  app.footer("Example:\n  dlc compile resnet50.onnx -o resnet50.dlc --dim N=1..64");
}

/// LLVM and MLIR are built without exceptions: whoever runs out of memory, here
/// or there, ends here. Nothing may be allocated any more.
[[noreturn]] void outOfMemory() {
  constexpr char message[] = "error: out of memory: the compiler could not get more; next: "
                             "--threads 1, --budget-mb, or a machine with more\n";
  (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
  llvm::sys::RunInterruptHandlers(); // removes a half-written artifact
  _exit(kExitOutOfMemory);
}

} // namespace

int main(int argc, char **argv) {
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { outOfMemory(); });
  CLI::App app{"dlc compiler: compiles and checks models", "dlc"};
  app.require_subcommand(1);
  CompileOptions options;
  CLI::App *compile = app.add_subcommand("compile", "compile a model into an artifact");
  addCompileOptions(*compile, options);
  CLI::App *check = app.add_subcommand("check", "list every problem of a model");
  addModelOptions(*check, options);
  check->add_flag("--json", options.json, "problems as JSON");
  check->footer("Example:\n  dlc check model.onnx");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return compile->parsed() ? compileModel(options) : checkModel(options);
}
