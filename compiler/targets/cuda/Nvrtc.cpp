#include "compiler/targets/cuda/Nvrtc.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <dlfcn.h>

using namespace llvm;

namespace dlc::cuda {

namespace {

/// Newest first. The plain name is what the toolkit's development files install.
constexpr const char *kLibraries[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};
constexpr int kOldestMajor = 12;

/// The compiler's messages, each with the line of the source that it points at:
/// "k.cu(12): error: ..." is followed by "  12 | <the line>".
std::string annotate(StringRef log, const NvrtcJob &job) {
  SmallVector<StringRef> lines, messages;
  StringRef(job.source).split(lines, '\n');
  log.split(messages, '\n');
  std::string text;
  for (StringRef message : messages) {
    message = message.rtrim();
    if (message.empty())
      continue;
    text += "\n  " + message.str();
    unsigned number = 0;
    StringRef rest = message;
    if (rest.consume_front(job.name) && rest.consume_front("(") &&
        !rest.consumeInteger(10, number) && number > 0 && number <= lines.size())
      text += "\n  " + std::to_string(number) + " | " + lines[number - 1].str();
  }
  return text;
}

} // namespace

std::string Nvrtc::open() {
  void *library = nullptr;
  for (const char *name : kLibraries)
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "libnvrtc.so.13 (NVIDIA's runtime compiler) is not on this machine; install the CUDA "
           "toolkit, or `pip install nvidia-cuda-nvrtc` and put its lib folder on "
           "LD_LIBRARY_PATH";
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  find(getVersion, "nvrtcVersion");
  find(getNumArchitectures, "nvrtcGetNumSupportedArchs");
  find(getArchitectures, "nvrtcGetSupportedArchs");
  find(createProgram, "nvrtcCreateProgram");
  find(destroyProgram, "nvrtcDestroyProgram");
  find(compileProgram, "nvrtcCompileProgram");
  find(getPtxSize, "nvrtcGetPTXSize");
  find(getPtx, "nvrtcGetPTX");
  find(getCubinSize, "nvrtcGetCUBINSize");
  find(getCubin, "nvrtcGetCUBIN");
  find(getLogSize, "nvrtcGetProgramLogSize");
  find(getLog, "nvrtcGetProgramLog");
  find(getErrorString, "nvrtcGetErrorString");
  if (!missing.empty())
    return "this libnvrtc lacks " + missing;
  int major = 0, minor = 0;
  if (getVersion(&major, &minor) != 0 || major < kOldestMajor)
    return "libnvrtc " + std::to_string(major) + "." + std::to_string(minor) + " is older than " +
           std::to_string(kOldestMajor) + ".0";
  return "";
}

Expected<const Nvrtc *> Nvrtc::get() {
  static const auto instance = [] {
    std::pair<Nvrtc, std::string> result;
    result.second = result.first.open();
    return result;
  }();
  if (!instance.second.empty())
    return createStringError(instance.second);
  return &instance.first;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  getVersion(&major, &minor);
  return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
}

bool Nvrtc::supports(int architecture) const {
  int count = 0;
  if (getNumArchitectures(&count) != 0)
    return false;
  SmallVector<int> known(count);
  return getArchitectures(known.data()) == 0 && is_contained(known, architecture);
}

Expected<NvrtcResult> Nvrtc::compile(const NvrtcJob &job) const {
  const char *header = job.headers.c_str(), *headerName = "dlc.cuh";
  Program program = nullptr;
  if (int code = createProgram(&program, job.source.c_str(), job.name.c_str(), 1, &header, &headerName))
    return createStringError(job.name + ": " + getErrorString(code));
  std::string architecture = "--gpu-architecture=" + job.architecture;
  SmallVector<const char *> options = {architecture.c_str()};
  for (const std::string &option : job.options)
    options.push_back(option.c_str());
  int code = compileProgram(program, options.size(), options.data());
  size_t size = 0;
  if (code != 0) {
    getLogSize(program, &size);
    std::string log(size, '\0');
    getLog(program, log.data());
    destroyProgram(&program);
    return createStringError(job.name + ": " + getErrorString(code) + ":" +
                             annotate(StringRef(log.c_str()), job));
  }
  NvrtcResult result;
  if ((code = getPtxSize(program, &size)) == 0) {
    result.ptx.resize(size);
    code = getPtx(program, result.ptx.data());
  }
  bool isReal = StringRef(job.architecture).starts_with("sm_");
  if (code == 0 && isReal && (code = getCubinSize(program, &size)) == 0) {
    result.cubin.resize(size);
    code = getCubin(program, result.cubin.data());
  }
  destroyProgram(&program);
  if (code != 0)
    return createStringError(job.name + ": " + getErrorString(code));
  while (!result.ptx.empty() && result.ptx.back() == '\0')
    result.ptx.pop_back();
  return result;
}

} // namespace dlc::cuda
