#include "compiler/ConstantEvaluator.h"

#include "compiler/KernelJobs.h"
#include "compiler/KernelSources.h"

#include "dialects/dl/ConstantData.h"
#include "dialects/dl/ops/Constant.h"
#include "passes/ConstantSubgraph.h"
#include "passes/Passes.h"

#include "runtime/schema/KernelAbi.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace dlc {

namespace {

/// A shared object loaded from memory.
class LoadedImage {
public:
  explicit LoadedImage(ArrayRef<char> bytes) {
    int fd = memfd_create("dlc-fold", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()))
      handle = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                      RTLD_NOW | RTLD_LOCAL);
    if (fd >= 0)
      close(fd);
  }
  ~LoadedImage() {
    if (handle)
      dlclose(handle);
  }
  template <typename Function> Function find(const std::string &name) const {
    return reinterpret_cast<Function>(dlsym(handle, name.c_str()));
  }
  void *handle = nullptr;
};

using Memory = std::unique_ptr<char, decltype(&std::free)>;

Memory allocate(int64_t bytes) {
  int64_t rounded = std::max<int64_t>(64, (bytes + 63) / 64 * 64);
  return Memory(static_cast<char *>(aligned_alloc(64, rounded)), &std::free);
}

void *allocateScratch(const DlcKernelCall *call, int64_t bytes) {
  auto &blocks = *static_cast<std::vector<Memory> *>(call->scratchState);
  blocks.push_back(allocate(bytes));
  return blocks.back().get();
}

/// Runs a function of kernels, views and constants.
class Evaluation {
public:
  Evaluation(func::FuncOp function, ShapeAnalysis &shapes, KernelSources &sources)
      : function(function), shapes(shapes), sources(sources) {}

  LogicalResult collect() {
    WalkResult result = function.walk([&](dl::KernelOp kernel) {
      auto use = sources.add(kernel, shapes);
      if (failed(use))
        return WalkResult::interrupt();
      uses[kernel] = use->source;
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult run(const LoadedImage &image) {
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (auto constant = dyn_cast<dl::ConstantOp>(op)) {
        storage.push_back(std::make_unique<std::vector<char>>());
        ArrayRef<char> bytes = dl::constantBytes(constant.getValue(), *storage.back());
        data[constant] = const_cast<char *>(bytes.data());
      } else if (auto kernel = dyn_cast<dl::KernelOp>(op)) {
        if (failed(runKernel(kernel, image)))
          return failure();
      } else {
        data[op.getResult(0)] = data.lookup(op.getOperand(0));
      }
    }
    return success();
  }

  ElementsAttr result(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return dl::makeConstantAttr(
        type, ArrayRef<char>(data.lookup(value), *dl::tensorBytes(type)));
  }

private:
  LogicalResult runKernel(dl::KernelOp kernel, const LoadedImage &image) {
    SmallVector<void *> buffers;
    for (Value input : kernel.getInputs())
      buffers.push_back(data.lookup(input));
    for (Value output : kernel.getOutputs()) {
      owned.push_back(allocate(*dl::tensorBytes(cast<RankedTensorType>(output.getType()))));
      if (!owned.back())
        return kernel.emitError("out of memory while folding constants");
      data[output] = owned.back().get();
      buffers.push_back(data[output]);
    }
    const std::string &name = sources.sources()[uses.lookup(kernel)].name;
    auto function = image.find<DlcKernelFn>(name);
    auto work = image.find<DlcKernelWorkFn>(name + "_work");
    std::vector<Memory> scratch;
    DlcKernelCall call = {buffers.data(), nullptr, allocateScratch, &scratch};
    if (int32_t error = function(&call, 0, work(nullptr)))
      return kernel.emitError("folding constants failed in ") << name << ": " << error;
    return success();
  }

  func::FuncOp function;
  ShapeAnalysis &shapes;
  KernelSources &sources;
  llvm::DenseMap<Operation *, size_t> uses;
  llvm::DenseMap<Value, char *> data;
  std::vector<Memory> owned;
  std::vector<std::unique_ptr<std::vector<char>>> storage;
};

LogicalResult evaluate(ModuleOp module, ArrayRef<Value> replaces,
                       const cpu::CpuOptions &options, FoldStatistics &statistics) {
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(createFormKernels());
  if (failed(pm.run(module)))
    return failure();
  auto function = *module.getOps<func::FuncOp>().begin();
  auto shapes = ShapeAnalysis::run(function);
  KernelSources sources;
  Evaluation evaluation(function, *shapes, sources);
  if (!shapes || failed(evaluation.collect()))
    return failure();
  cpu::CpuOptions native = options;
  native.cpu = "native";
  auto image = cpu::compileKernels(toJobs(sources), native);
  if (!image)
    return function.emitError("folding constants: ") << llvm::toString(image.takeError());
  LoadedImage loaded(image->bytes);
  if (!loaded.handle && !sources.sources().empty())
    return function.emitError("folding constants: ") << dlerror();
  if (failed(evaluation.run(loaded)))
    return failure();
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [value, result] : llvm::zip(replaces, terminator->getOperands())) {
    OpBuilder b(value.getDefiningOp());
    Location loc = value.getLoc();
    Value constant = dl::ConstantOp::create(b, loc, result.getType(),
                                            evaluation.result(result));
    Value(value).replaceAllUsesWith(constant);
  }
  statistics = {replaces.size(), sources.sources().size()};
  return success();
}

} // namespace

FailureOr<FoldStatistics> foldConstants(func::FuncOp function,
                                        const cpu::CpuOptions &options) {
  FoldStatistics statistics;
  ConstantSubgraph subgraph = extractConstantSubgraph(function);
  if (!subgraph.function)
    return statistics;
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  module->push_back(subgraph.function);
  if (failed(evaluate(*module, subgraph.replaces, options, statistics)))
    return failure();
  return statistics;
}

} // namespace dlc
