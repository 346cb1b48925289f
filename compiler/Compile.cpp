// `dlc compile`: import, phases, code, artifact, summary.

#include "compiler/Compile.h"

#include "compiler/Import.h"
#include "compiler/Pipeline.h"
#include "compiler/Report.h"
#include "compiler/Target.h"
#include "compiler/artifact/Writer.h"

#include "dialects/dl/Dl.h"
#include "passes/Counts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace mlir;

namespace dlc {

void loadDialects(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, dl::DlDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect, plan::PlanDialect,
                      scf::SCFDialect, tensor::TensorDialect>();
}

namespace {

void dumpIr(ModuleOp module, const CompileOptions &options, size_t number,
            StringRef phase) {
  if (options.dumpDir.empty())
    return;
  llvm::SmallString<128> path(options.dumpDir);
  llvm::sys::fs::create_directories(path);
  llvm::sys::path::append(path, std::to_string(number) + "-" + phase + ".mlir");
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error)
    module.print(os, OpPrintingFlags().elideLargeElementsAttrs().elideLargeResourceString());
}

/// Runs the phases up to `stopAfter`. True: the IR was printed, nothing follows.
FailureOr<bool> runPhases(ModuleOp module, CompileState &state) {
  const CompileOptions &options = state.options;
  size_t number = 0;
  auto finished = [&](StringRef phase) {
    dumpIr(module, options, number++, phase);
    if (options.stopAfter != phase)
      return false;
    module.print(llvm::outs(), OpPrintingFlags().elideLargeElementsAttrs()
                                   .elideLargeResourceString());
    llvm::outs() << "\n";
    return true;
  };
  if (finished("import"))
    return true;
  for (const Phase &phase : compilerPhases()) {
    double before = state.elapsedSeconds();
    if (failed(phase.run(module, state)))
      return failure();
    state.phaseSeconds.emplace_back(phase.name, state.elapsedSeconds() - before);
    if (finished(phase.name))
      return true;
  }
  return false;
}

bool isPhase(StringRef name) {
  return name.empty() || name == "import" ||
         llvm::any_of(compilerPhases(), [&](const Phase &p) { return name == p.name; });
}

std::string outputPath(const CompileOptions &options) {
  if (!options.output.empty())
    return options.output;
  llvm::SmallString<128> path(options.input);
  llvm::sys::path::replace_extension(path, "dlc");
  return std::string(path);
}

/// Writes beside the target and renames, so that a failure leaves no half file.
std::string writeFile(const std::string &path,
                      llvm::function_ref<bool(llvm::raw_ostream &)> write) {
  llvm::SmallString<128> temporary;
  int fd;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          path + ".%%%%%%", fd, temporary,
          llvm::sys::fs::OF_None, llvm::sys::fs::all_read | llvm::sys::fs::owner_write))
    return error.message();
  llvm::sys::RemoveFileOnSignal(temporary);
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
  bool ok = write(os);
  os.close();
  std::string problem = os.has_error() ? os.error().message() : ok ? "" : "not written";
  os.clear_error();
  if (problem.empty())
    if (std::error_code error = llvm::sys::fs::rename(temporary, path))
      problem = error.message();
  if (!problem.empty())
    llvm::sys::fs::remove(temporary);
  llvm::sys::DontRemoveFileOnSignal(temporary);
  return problem;
}

int generate(CompileState &state, ArrayRef<std::unique_ptr<Target>> targets,
             ArrayRef<NamedWeight> weights, Reporter &report) {
  double before = state.elapsedSeconds();
  CompiledCode code;
  for (const std::unique_ptr<Target> &target : targets)
    if (llvm::Error error = target->compile(state.sources, code))
      return report.error(kExitInternal, llvm::toString(std::move(error)));
  state.phaseSeconds.emplace_back("code", state.elapsedSeconds() - before);
  before = state.elapsedSeconds();
  ArtifactSummary summary;
  std::string path = outputPath(state.options);
  std::string problem = writeFile(path, [&](llvm::raw_ostream &os) {
    auto written = writeArtifact(state.programs, code, weights, os);
    if (succeeded(written))
      summary = *written;
    return succeeded(written);
  });
  if (!problem.empty())
    return report.error(kExitUsage, path + ": " + problem);
  state.phaseSeconds.emplace_back("write", state.elapsedSeconds() - before);
  report.summary(state, summary, path);
  return kExitOk;
}

} // namespace

int compileModel(const CompileOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED); // outlives its listener
  Reporter report(options);
  if (!isPhase(options.stopAfter))
    return report.error(kExitUsage, "--stop-after: no phase is called '" +
                                        options.stopAfter + "'");
  auto targets = makeTargets(options);
  if (!targets)
    return report.error(kExitUnsupported, llvm::toString(targets.takeError()));
  auto cpu = cpu::resolveCpu(options.cpu);
  if (!cpu)
    return report.error(kExitUsage, llvm::toString(cpu.takeError()));
  loadDialects(context);
  report.listen(context);
  CompileState state(options);
  listenToCounts(context, [&](StringRef pass, StringRef what, int64_t count) {
    if (state.isCounting)
      state.counts[{pass.str(), what.str()}] += count;
  });
  state.sources.keepLinalg = llvm::any_of(*targets, [](auto &t) { return t->needsLinalg(); });
  ImportedModel model = importModel(options, context, report);
  if (!model.module)
    return report.exitCode(kExitUsage);
  state.phaseSeconds.emplace_back("import", state.elapsedSeconds());
  state.importedNodes = model.numNodes;
  auto stopped = runPhases(*model.module, state);
  if (failed(stopped))
    return report.exitCode(kExitUsage);
  return *stopped ? kExitOk : generate(state, *targets, model.weights, report);
}

int checkModel(const CompileOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED); // outlives its listener
  Reporter report(options);
  loadDialects(context);
  report.listen(context);
  ImportedModel model = importModel(options, context, report);
  CompileState state(options);
  if (model.module)
    (void)runPhases(*model.module, state);
  return report.finishCheck();
}

} // namespace dlc
