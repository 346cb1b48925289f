#include "test/compiler/cpu/KernelHarness.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace dlc::test {

namespace {

/// Scratch blocks of one call, freed after it.
struct Blocks {
  std::vector<void *> memory;
  int64_t sizeBytes = 0;
};

void *allocate(const DlcKernelCall *call, int64_t sizeBytes) {
  auto &blocks = *static_cast<Blocks *>(call->scratchState);
  void *block = std::aligned_alloc(64, std::max<int64_t>(64, (sizeBytes + 63) / 64 * 64));
  blocks.memory.push_back(block);
  blocks.sizeBytes += sizeBytes;
  return block;
}

bool machineHas(const std::vector<std::string> &features) {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line))
    if (line.rfind("flags", 0) == 0)
      break;
  line += ' ';
  return std::all_of(features.begin(), features.end(), [&](const std::string &feature) {
    return line.find(" " + feature + " ") != std::string::npos;
  });
}

} // namespace

std::vector<std::string> runnableCpus() {
  std::vector<std::string> names;
  for (const char *name : {"native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"})
    if (auto cpu = cpu::resolveCpu(name); cpu && machineHas(cpu->features))
      names.push_back(name);
  return names;
}

std::string testNameOf(std::string cpu) {
  std::replace(cpu.begin(), cpu.end(), '-', '_');
  return cpu;
}

mlir::func::FuncOp makeEpilogue(mlir::OpBuilder &b,
                                llvm::function_ref<mlir::Value(mlir::Location, mlir::ValueRange)> body) {
  mlir::Type f32 = b.getF32Type();
  mlir::Location loc = b.getUnknownLoc();
  mlir::OpBuilder::InsertionGuard guard(b);
  auto function =
      mlir::func::FuncOp::create(loc, "epilogue", b.getFunctionType({f32, f32, f32}, {f32}));
  b.setInsertionPointToStart(function.addEntryBlock());
  mlir::Value result = body(loc, function.getArguments());
  mlir::func::ReturnOp::create(b, loc, result);
  return function;
}

CompiledKernel::CompiledKernel(const cpu::KernelJob &job, const std::string &cpuName) {
  cpu::CpuOptions options;
  options.cpu = cpuName;
  options.threads = 1;
  auto image = cpu::compileKernels({job}, options);
  if (!image) {
    error = llvm::toString(image.takeError());
    return;
  }
  int fd = memfd_create("kernel", MFD_CLOEXEC);
  if (write(fd, image->bytes.data(), image->bytes.size()) == ssize_t(image->bytes.size()))
    handle = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(fd);
  if (!handle) {
    error = dlerror();
    return;
  }
  function = reinterpret_cast<DlcKernelFn>(dlsym(handle, job.name.c_str()));
  workFn = reinterpret_cast<DlcKernelWorkFn>(dlsym(handle, (job.name + "_work").c_str()));
  if (!function || !workFn)
    error = "the image does not export " + job.name;
}

CompiledKernel::~CompiledKernel() {
  if (handle)
    dlclose(handle);
}

int32_t CompiledKernel::run(const std::vector<void *> &buffers,
                            const std::vector<int64_t> &dims, int64_t unitsPerCall,
                            bool backwards) const {
  int64_t units = work(dims);
  int64_t step = unitsPerCall > 0 ? unitsPerCall : std::max<int64_t>(1, units);
  std::vector<int64_t> starts;
  for (int64_t begin = 0; begin < units; begin += step)
    starts.push_back(begin);
  if (backwards)
    std::reverse(starts.begin(), starts.end());
  scratchBytes = 0;
  for (int64_t begin : starts) {
    Blocks blocks;
    DlcKernelCall call = {buffers.data(), dims.data(), allocate, &blocks};
    int32_t code = function(&call, begin, std::min(units, begin + step));
    for (void *block : blocks.memory)
      std::free(block);
    scratchBytes += blocks.sizeBytes;
    if (code != kDlcKernelOk)
      return code;
  }
  return kDlcKernelOk;
}

} // namespace dlc::test
