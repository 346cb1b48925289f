// The CUDA target: linalg text to CUDA C++, and that to PTX and machine code, each
// kernel on a thread and a context of its own.

#include "compiler/Target.h"
#include "compiler/targets/cuda/Kernel.h"
#include "compiler/targets/cuda/Resources.h"
#include "compiler/targets/cuda/device/Headers.h"

#include "runtime/schema/CodeCache.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <thread>

using namespace mlir;
using llvm::Error;
using llvm::Expected;

namespace dlc {

namespace {

using namespace cuda;
using schema::Nvrtc;

/// What a kernel's diagnostics say, as one text.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext *context)
      : handler(context, [this](Diagnostic &d) {
          if (d.getSeverity() == DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "; ") + d.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

/// Sizes of the linalg text begin behind those of the CPU's contraction.
void shiftSizes(DeviceKernel &kernel, unsigned numBuffers, unsigned firstSize) {
  auto shift = [&](SizeExpr &steps) {
    for (schema::ExprStep &step : steps)
      if (step.code() == schema::ExprCode::Symbol)
        step = {step.code(), step.value() + firstSize};
  };
  llvm::for_each(kernel.temporaries, shift);
  for (DeviceLaunch &launch : kernel.launches) {
    shift(launch.work);
    for (uint32_t &argument : launch.args)
      if (argument >= numBuffers)
        argument += firstSize;
  }
}

class CudaTarget : public Target {
public:
  CudaTarget(std::vector<std::string> architectures, const Nvrtc *nvrtc,
             const CompileOptions &options)
      : architectures(std::move(architectures)), nvrtc(nvrtc), options(options) {}

  bool needsLinalg() const override { return true; }

  Error compile(const KernelSources &sources, CompiledCode &code) override {
    size_t count = sources.sources().size();
    DeviceProgram program{"cuda", nvrtc ? nvrtc->version() : "none", kDeviceHeader,
                          // Products are not fused into sums: the CPU's results have none, and
                          // rounding decides indices in resampling and quantization.
                          {"--std=c++17", "-lineinfo", "--fmad=false", "--device-int128"},
                          std::vector<DeviceKernel>(count)};
    std::vector<std::string> errors(count);
    std::atomic<size_t> next{0};
    auto work = [&] {
      for (size_t i; (i = next++) < count;)
        if (Error error = compileOne(sources.sources()[i], program, program.kernels[i]))
          errors[i] = llvm::toString(std::move(error));
    };
    unsigned numThreads = options.threads ? options.threads : std::thread::hardware_concurrency();
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < numThreads && i < count; ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (const std::string &error : errors)
      if (!error.empty())
        return llvm::createStringError(error);
    code.devices.push_back(std::move(program));
    return Error::success();
  }

private:
  Error compileOne(const KernelSources::Source &source, const DeviceProgram &program,
                   DeviceKernel &kernel) {
    MLIRContext context(kernelRegistry(), MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    DiagnosticText diagnostics(&context);
    kernel.name = source.name;
    auto module = parseSourceString<ModuleOp>(source.ir, &context);
    func::FuncOp function = module ? lowerToBuffers(*module, source.name) : func::FuncOp();
    if (function)
      kernel.source = "// ONNX nodes: " + source.nodes + "\n#include \"dlc.cuh\"\n\n";
    if (!function || failed(printKernel(function, kernel)))
      return llvm::createStringError("CUDA kernel " + source.name + " (" + source.nodes +
                                     "): " + diagnostics.text);
    unsigned numBuffers = kernel.temporaries.size();
    for (Type type : function.getArgumentTypes())
      numBuffers += isa<MemRefType>(type);
    shiftSizes(kernel, numBuffers, source.firstSize);
    dump(kernel.name + ".cu", kernel.source);
    for (const std::string &architecture : architectures)
      if (Error error = compileFor(architecture, source, program, kernel))
        return error;
    kernel.images.push_back({schema::ImageKind::Source, "", kernel.source, {}});
    return Error::success();
  }

  Error compileFor(const std::string &architecture, const KernelSources::Source &source,
                   const DeviceProgram &program, DeviceKernel &kernel) {
    schema::NvrtcResult result;
    std::string error = schema::CodeCache(options.cacheDir).compile(
        *nvrtc, {kernel.name + ".cu", kernel.source, program.headers, program.options, architecture},
        result);
    if (!error.empty())
      return llvm::createStringError("CUDA kernel " + source.name + " (" + source.nodes + "): " + error);
    std::string number = architecture.substr(architecture.find('_') + 1);
    // The first architecture is the least: its PTX runs on all later ones.
    if (kernel.images.empty()) {
      dump(kernel.name + ".ptx", result.ptx);
      kernel.images.push_back({schema::ImageKind::Ptx, "sm_" + number, std::move(result.ptx), {}});
    }
    if (!result.cubin.empty())
      kernel.images.push_back({schema::ImageKind::Cubin, architecture, std::move(result.cubin),
                               readResources(result.log, kernel.launches)});
    return Error::success();
  }

  void dump(const std::string &name, StringRef text) {
    if (options.dumpDir.empty())
      return;
    llvm::SmallString<128> path(options.dumpDir);
    llvm::sys::path::append(path, "cuda");
    llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, name);
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    if (!error)
      os << text;
  }

  std::vector<std::string> architectures; // ascending
  const Nvrtc *nvrtc; // null when only sources are asked for
  const CompileOptions &options;
};

} // namespace

Expected<std::unique_ptr<Target>> makeCudaTarget(std::vector<std::string> architectures,
                                                 const CompileOptions &options) {
  llvm::erase(architectures, "source"); // always there
  const Nvrtc *nvrtc = nullptr;
  std::string error;
  if (!architectures.empty() && !(nvrtc = Nvrtc::get(error)))
    return llvm::createStringError("--target=cuda: " + error);
  constexpr int leastArchitecture = 80;
  auto numberOf = [](StringRef name) {
    int number = 0;
    name.split('_').second.getAsInteger(10, number);
    return number;
  };
  for (const std::string &name : architectures) {
    int number = numberOf(name);
    if (number < leastArchitecture || !nvrtc->supports(number))
      return llvm::createStringError("--target: '" + name + "' is no architecture that dlc and " +
                                     nvrtc->version() + " make code for; sm_80 is the least");
  }
  llvm::sort(architectures, [&](StringRef a, StringRef b) { return numberOf(a) < numberOf(b); });
  return std::make_unique<CudaTarget>(std::move(architectures), nvrtc, options);
}

} // namespace dlc
