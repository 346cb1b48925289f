#include "compiler/Pipeline.h"

#include "compiler/ConstantEvaluator.h"
#include "compiler/LowerToPlan.h"
#include "passes/Passes.h"
#include "passes/plan/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace dlc {

namespace {

void configure(PassManager &pm, const CompileState &state) {
  if (state.options.printIrAfterAll) {
    pm.getContext()->disableMultithreading();
    pm.enableIRPrinting([](Pass *, Operation *) { return false; },
                        [](Pass *, Operation *) { return true; });
  }
  if (state.options.verbose)
    pm.enableStatistics(PassDisplayMode::List);
}

template <typename... Factories>
LogicalResult runPasses(ModuleOp module, CompileState &state, Factories... factories) {
  PassManager pm(module.getContext());
  configure(pm, state);
  (pm.addNestedPass<func::FuncOp>(factories()), ...);
  return pm.run(module);
}

func::FuncOp mainFunction(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

LogicalResult runShapes(ModuleOp module, CompileState &state) {
  return runPasses(module, state, createInferShapes,
                   [] { return createCanonicalizerPass(); },
                   [] { return createCSEPass(); }, createInferShapes,
                   [] { return createCanonicalizerPass(); });
}

LogicalResult runGraph(ModuleOp module, CompileState &state) {
  return runPasses(module, state, createFoldScale);
}

LogicalResult runLayout(ModuleOp module, CompileState &state) {
  if (!state.options.layout || state.overBudget())
    return success();
  auto cpu = cpu::resolveCpu(state.options.cpu);
  PackFiltersOptions packing;
  packing.lanes = cpu ? cpu->isa.lanes : 16;
  if (!cpu)
    llvm::consumeError(cpu.takeError());
  return runPasses(module, state, createChannelsLast,
                   [&] { return createPackFilters(packing); },
                   [] { return createCanonicalizerPass(); },
                   [] { return createCSEPass(); });
}

LogicalResult runConstants(ModuleOp module, CompileState &state) {
  cpu::CpuOptions options;
  options.threads = state.options.threads;
  auto folded = foldConstants(mainFunction(module), options);
  if (failed(folded))
    return failure();
  state.foldedValues = folded->values;
  return runPasses(module, state, [] { return createCanonicalizerPass(); });
}

LogicalResult runKernels(ModuleOp module, CompileState &state) {
  return runPasses(module, state, createFormKernels);
}

LogicalResult runPlan(ModuleOp module, CompileState &state) {
  auto program = lowerToPlan(mainFunction(module), state.sources);
  if (failed(program))
    return failure();
  state.program = *program;
  mainFunction(module).erase();
  PassManager pm(module.getContext());
  configure(pm, state);
  pm.addNestedPass<plan::ProgramOp>(plan::createAssignInPlace());
  pm.addNestedPass<plan::ProgramOp>(plan::createAssignMemory());
  return pm.run(module);
}

constexpr Phase kPhases[] = {
    {"shapes", runShapes},
    {"graph", runGraph},
    {"layout", runLayout},
    {"constants", runConstants},
    {"kernels", runKernels},
    {"plan", runPlan},
};

} // namespace

ArrayRef<Phase> compilerPhases() { return kPhases; }

} // namespace dlc
