#include "compiler/Pipeline.h"

#include "compiler/ConstantEvaluator.h"
#include "compiler/LowerToPlan.h"
#include "passes/Passes.h"
#include "passes/plan/Passes.h"
#include "passes/train/BuildTraining.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/SaveAndRestore.h"

#include <cstdio>
#include <unistd.h>

using namespace mlir;

namespace dlc {

namespace {

/// Memory that this process holds now, in MiB; 0 where /proc does not say.
int64_t residentMegabytes() {
  long total = 0, resident = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%ld %ld", &total, &resident) != 2)
      resident = 0;
    fclose(file);
  }
  return int64_t(resident) * sysconf(_SC_PAGESIZE) >> 20;
}

void configure(PassManager &pm, const CompileState &state) {
  if (state.options.printIrAfterAll) {
    pm.getContext()->disableMultithreading();
    pm.enableIRPrinting([](Pass *, Operation *) { return false; },
                        [](Pass *, Operation *) { return true; });
  }
}

template <typename... Factories>
LogicalResult runPasses(ModuleOp module, CompileState &state, Factories... factories) {
  PassManager pm(module.getContext());
  configure(pm, state);
  (pm.addNestedPass<func::FuncOp>(factories()), ...);
  return pm.run(module);
}

/// `main`, or in their order the entries that it was made into.
SmallVector<func::FuncOp> entryFunctions(ModuleOp module) {
  return SmallVector<func::FuncOp>(module.getOps<func::FuncOp>());
}

LogicalResult runShapes(ModuleOp module, CompileState &state) {
  return runPasses(module, state, createInferShapes,
                   [] { return createCanonicalizerPass(); },
                   [] { return createCSEPass(); }, createInferShapes,
                   [] { return createCanonicalizerPass(); });
}

/// The model becomes the programs that train it.
LogicalResult runTraining(ModuleOp module, CompileState &state) {
  const TrainingOptions &options = state.options.training;
  if (!options.enabled)
    return success();
  // Composite ops have the gradient of what they decompose into.
  if (failed(separateWeights(module, options)) ||
      failed(runPasses(module, state, [] { return createDecompose(); })) ||
      failed(runShapes(module, state)))
    return failure();
  return buildTraining(module, options);
}

LogicalResult runGraph(ModuleOp module, CompileState &state) {
  return runPasses(module, state, createFoldScale);
}

LogicalResult runLayout(ModuleOp module, CompileState &state) {
  if (!state.options.layout)
    return success();
  if (state.overBudget()) {
    module.emitWarning("the budget is used up: the model keeps its own layout and is slower");
    return success();
  }
  auto cpu = cpu::resolveCpu(state.options.cpu);
  PackFiltersOptions packing;
  packing.lanes = cpu ? cpu->isa.lanes : 16;
  if (!cpu)
    llvm::consumeError(cpu.takeError());
  return runPasses(module, state, createExpandConvGradients,
                   [] { return createCanonicalizerPass(); },
                   [] { return createCSEPass(); }, createChannelsLast,
                   [&] { return createPackFilters(packing); },
                   [] { return createCanonicalizerPass(); },
                   [] { return createCSEPass(); });
}

LogicalResult runConstants(ModuleOp module, CompileState &state) {
  cpu::CpuOptions options;
  options.threads = state.options.threads;
  llvm::SaveAndRestore pause(state.isCounting, false);
  for (func::FuncOp function : entryFunctions(module)) {
    auto folded = foldConstants(function, options);
    if (failed(folded))
      return failure();
    state.foldedValues += folded->values;
  }
  return runPasses(module, state, [] { return createCanonicalizerPass(); });
}

/// After the constants, which say what is a scale and what a mask.
LogicalResult runComposites(ModuleOp module, CompileState &state) {
  DecomposeOptions composites;
  // Linalg text knows no composite ops.
  composites.keepKernels = state.options.fuse && !state.sources.keepLinalg;
  if (composites.keepKernels && failed(runPasses(module, state, createFuseAttention)))
    return failure();
  if (failed(runPasses(module, state, [&] { return createDecompose(composites); },
                       [] { return createCanonicalizerPass(); }, createInferShapes,
                       [] { return createCSEPass(); })))
    return failure();
  return runConstants(module, state);
}

LogicalResult runKernels(ModuleOp module, CompileState &state) {
  FormKernelsOptions options;
  options.fuse = state.options.fuse;
  return runPasses(module, state, [&] { return createFormKernels(options); });
}

LogicalResult runPlan(ModuleOp module, CompileState &state) {
  for (func::FuncOp function : entryFunctions(module)) {
    auto program = lowerToPlan(function, state.sources);
    if (failed(program))
      return failure();
    state.programs.push_back(*program);
    function.erase();
  }
  PassManager pm(module.getContext());
  configure(pm, state);
  pm.addNestedPass<plan::ProgramOp>(plan::createUpdateStatesInPlace());
  pm.addNestedPass<plan::ProgramOp>(plan::createAssignInPlace());
  pm.addNestedPass<plan::ProgramOp>(plan::createAssignMemory());
  return pm.run(module);
}

constexpr Phase kPhases[] = {
    {"train", runTraining},
    {"shapes", runShapes},
    {"graph", runGraph},
    {"layout", runLayout},
    {"constants", runConstants},
    {"composites", runComposites},
    {"kernels", runKernels},
    {"plan", runPlan},
};

} // namespace

ArrayRef<Phase> compilerPhases() { return kPhases; }

bool CompileState::overBudget() const {
  return (options.budgetSeconds > 0 && elapsedSeconds() > options.budgetSeconds) ||
         (options.budgetMegabytes > 0 && residentMegabytes() > options.budgetMegabytes);
}

} // namespace dlc
