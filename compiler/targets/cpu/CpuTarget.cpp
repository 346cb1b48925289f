// Kernels to code: each on a context of its own, several at a time.

#include "compiler/targets/cpu/CpuTarget.h"

#include "compiler/targets/KernelDialects.h"
#include "compiler/targets/cpu/Object.h"
#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <atomic>
#include <mutex>
#include <thread>

using namespace mlir;
using llvm::Expected;

namespace dlc::cpu {

namespace {

DialectRegistry &registry() {
  static DialectRegistry instance = [] {
    DialectRegistry r;
    registerKernelDialects(r);
    r.insert<cf::ControlFlowDialect, LLVM::LLVMDialect, ub::UBDialect>();
    registerBuiltinDialectTranslation(r);
    registerLLVMDialectTranslation(r);
    return r;
  }();
  return instance;
}

/// Turns the diagnostics of one kernel into the text of an error.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext *context)
      : handler(context, [this](Diagnostic &d) {
          text += (text.empty() ? "" : "; ") + d.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

OwningOpRef<ModuleOp> lowerGeneral(const KernelJob &job, MLIRContext &context,
                                   bool tile) {
  auto module = parseSourceString<ModuleOp>(job.linalgIr, &context);
  if (!module)
    return {};
  auto kernel = *module->getOps<func::FuncOp>().begin();
  if (failed(simplifyLinalg(kernel)))
    return {};
  if (tile)
    tileForWork(kernel);
  bool isTiled = kernel->hasAttr(kWorkCountAttr), sharesBuffers = false;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    sharesBuffers |= bool(kernel.getArgAttr(i, kSharedAttr));
  func::FuncOp body = wrapInAbi(*module, kernel, job.name);
  if (failed(bufferizeBody(body)))
    return {};
  if (isTiled && !restrictWork(body))
    return lowerGeneral(job, context, false);
  reuseBuffers(body);
  // Only elementwise kernels share buffers: each element depends on itself.
  bool hasTemporaries = body.walk([](memref::AllocOp) { return WalkResult::interrupt(); })
                            .wasInterrupted();
  if (sharesBuffers && !hasTemporaries) {
    OpBuilder b(&context);
    body->setAttr("passthrough", b.getStrArrayAttr({kParallelLoopsAttr}));
  }
  return module;
}

Expected<SmallVector<char, 0>> compileOne(const KernelJob &job, const CpuInfo &cpu) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  DiagnosticText diagnostics(&context);
  auto fail = [&](StringRef stage) {
    return llvm::createStringError("kernel " + job.name + ": " + stage.str() +
                                   " failed: " + diagnostics.text);
  };
  OwningOpRef<ModuleOp> module;
  if (job.emit) {
    module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder b(module->getBodyRegion());
    job.emit(b, cpu);
  } else {
    module = lowerGeneral(job, context, true);
  }
  if (!module)
    return fail("lowering");
  if (failed(lowerToLlvmDialect(*module)))
    return fail("lowering to LLVM");
  auto object = emitObject(*module, cpu,
                           job.emit ? Optimization::Light : Optimization::Vectorise);
  if (!object)
    return fail("code generation (" + llvm::toString(object.takeError()) + ")");
  return object;
}

} // namespace

Expected<CodeImage> compileKernels(ArrayRef<KernelJob> jobs, const CpuOptions &options) {
  Expected<CpuInfo> cpu = resolveCpu(options.cpu);
  if (!cpu)
    return cpu.takeError();
  std::vector<SmallVector<char, 0>> objects(jobs.size());
  std::vector<std::string> errors(jobs.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < jobs.size();) {
      if (auto object = compileOne(jobs[i], *cpu))
        objects[i] = std::move(*object);
      else
        errors[i] = llvm::toString(object.takeError());
    }
  };
  unsigned count = options.threads ? options.threads : std::thread::hardware_concurrency();
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count && i < jobs.size(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  if (jobs.empty())
    return CodeImage{{}, std::move(*cpu)};
  auto image = linkObjects(objects);
  if (!image)
    return image.takeError();
  return CodeImage{std::move(*image), std::move(*cpu)};
}

} // namespace dlc::cpu
