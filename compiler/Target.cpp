#include "compiler/Target.h"

#include "compiler/KernelJobs.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace dlc {

namespace {

class CpuTarget : public Target {
public:
  explicit CpuTarget(const CompileOptions &options) : options(options) {}

  Error compile(const KernelSources &sources, CompiledCode &code) override {
    cpu::CpuOptions cpuOptions;
    cpuOptions.cpu = options.cpu;
    cpuOptions.threads = options.threads;
    auto image = cpu::compileKernels(toJobs(sources), cpuOptions);
    if (!image)
      return image.takeError();
    if (!sources.sources().empty())
      code.codes.push_back({"cpu", image->cpu.name, image->cpu.features, std::move(image->bytes)});
    return Error::success();
  }

private:
  const CompileOptions &options;
};

} // namespace

std::unique_ptr<Target> makeCpuTarget(const CompileOptions &options) {
  return std::make_unique<CpuTarget>(options);
}

Expected<std::vector<std::unique_ptr<Target>>> makeTargets(const CompileOptions &options) {
  std::vector<std::unique_ptr<Target>> targets;
  std::vector<std::string> architectures;
  bool hasCpu = false;
  SmallVector<StringRef> names;
  StringRef(options.target).split(names, ',');
  for (StringRef name : names) {
    name = name.trim();
    bool isCuda = name.consume_front("cuda:");
    // "cuda:sm_80,sm_90" goes on with cuda.
    if (isCuda || (!architectures.empty() && (name.starts_with("sm_") || name.starts_with("compute_"))))
      architectures.push_back(name.str());
    else if (name == "cpu")
      hasCpu = true;
    else
      return createStringError("--target: '" + name.str() + "' is not built in; this compiler has: "
                               "cpu, cuda:sm_80, cuda:sm_90 and other architectures");
  }
  if (hasCpu)
    targets.push_back(makeCpuTarget(options));
  if (!architectures.empty()) {
    auto cuda = makeCudaTarget(std::move(architectures), options);
    if (!cuda)
      return cuda.takeError();
    targets.push_back(std::move(*cuda));
  }
  return targets;
}

} // namespace dlc
