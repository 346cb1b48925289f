// From the name of a cpu to what its code may use.

#include "compiler/targets/cpu/CpuTarget.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace dlc::cpu {

namespace {

/// Features that generated code may use, by LLVM's name and by the kernel's.
constexpr std::pair<const char *, const char *> kFeatures[] = {
    {"sse4.2", "sse4_2"},         {"avx", "avx"},
    {"avx2", "avx2"},             {"fma", "fma"},
    {"f16c", "f16c"},             {"bmi2", "bmi2"},
    {"avx512f", "avx512f"},       {"avx512bw", "avx512bw"},
    {"avx512dq", "avx512dq"},     {"avx512vl", "avx512vl"},
    {"avx512bf16", "avx512_bf16"}, {"avx512vnni", "avx512_vnni"},
    {"avx512fp16", "avx512_fp16"}};

} // namespace

Expected<CpuInfo> resolveCpu(StringRef name) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  std::string cpu = name == "native" ? sys::getHostCPUName().str() : name.str();
  std::string error;
  Triple triple("x86_64-unknown-linux-gnu");
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("this LLVM cannot make x86-64 code: " + error);
  std::unique_ptr<MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "x86-64", ""));
  if (!known->isCPUStringValid(cpu))
    return createStringError("--cpu: '" + cpu + "' is not an x86-64 cpu that LLVM "
                             "knows; try native, x86-64-v3 or x86-64-v4");
  std::unique_ptr<MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, cpu, ""));
  CpuInfo result;
  result.name = cpu;
  for (auto [llvmName, kernelName] : kFeatures)
    if (info->checkFeatures("+" + std::string(llvmName)))
      result.features.push_back(kernelName);
  bool wide = info->checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq");
  bool avx2 = info->checkFeatures("+avx2,+fma");
  result.vectorBits = wide ? 512 : avx2 ? 256 : 128;
  result.isa = {result.vectorBits / 32, wide ? 32 : 16};
  return result;
}

} // namespace dlc::cpu
