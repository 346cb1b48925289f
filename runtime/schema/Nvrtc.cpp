#include "runtime/schema/Nvrtc.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <type_traits>
#include <utility>

namespace dlc::schema {

namespace {

/// Newest first. The plain name is what the toolkit's development files install.
constexpr const char *kLibraries[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};
constexpr int kOldestMajor = 12;

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The compiler's messages, each with the line of the source that it points at:
/// "k.cu(12): error: ..." is followed by "  12 | <the line>".
std::string annotate(const std::string &log, const NvrtcJob &job) {
  std::vector<std::string> lines = linesOf(job.source);
  std::string text;
  for (const std::string &message : linesOf(log)) {
    if (message.empty() || message[0] == '\0')
      continue;
    text += "\n  " + message;
    if (message.compare(0, job.name.size() + 1, job.name + "(") != 0)
      continue;
    unsigned long number = strtoul(message.c_str() + job.name.size() + 1, nullptr, 10);
    if (number > 0 && number <= lines.size())
      text += "\n  " + std::to_string(number) + " | " + lines[number - 1];
  }
  return text;
}

void trimZeros(std::string &text) {
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
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

const Nvrtc *Nvrtc::get(std::string &error) {
  static const auto instance = [] {
    std::pair<Nvrtc, std::string> result;
    result.second = result.first.open();
    return result;
  }();
  error = instance.second;
  return error.empty() ? &instance.first : nullptr;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  getVersion(&major, &minor);
  return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
}

bool Nvrtc::supports(int architecture) const {
  int count = 0;
  if (getNumArchitectures(&count) != 0 || count <= 0)
    return false;
  std::vector<int> known(count);
  return getArchitectures(known.data()) == 0 &&
         std::find(known.begin(), known.end(), architecture) != known.end();
}

std::string Nvrtc::compile(const NvrtcJob &job, NvrtcResult &result) const {
  const char *header = job.headers.c_str(), *headerName = "dlc.cuh";
  Program program = nullptr;
  if (int code = createProgram(&program, job.source.c_str(), job.name.c_str(), 1, &header, &headerName))
    return job.name + ": " + getErrorString(code);
  bool isReal = job.architecture.compare(0, 3, "sm_") == 0;
  std::string architecture = "--gpu-architecture=" + job.architecture;
  std::vector<const char *> options = {architecture.c_str()};
  if (isReal)
    options.push_back("--ptxas-options=-v");
  for (const std::string &option : job.options)
    options.push_back(option.c_str());
  int code = compileProgram(program, int(options.size()), options.data());
  size_t size = 0;
  getLogSize(program, &size);
  result.log.resize(size);
  getLog(program, result.log.data());
  trimZeros(result.log);
  if (code != 0) {
    destroyProgram(&program);
    return job.name + ": " + getErrorString(code) + ":" + annotate(result.log, job);
  }
  if ((code = getPtxSize(program, &size)) == 0) {
    result.ptx.resize(size);
    code = getPtx(program, result.ptx.data());
  }
  if (code == 0 && isReal && (code = getCubinSize(program, &size)) == 0) {
    result.cubin.resize(size);
    code = getCubin(program, result.cubin.data());
  }
  destroyProgram(&program);
  trimZeros(result.ptx);
  return code != 0 ? job.name + ": " + getErrorString(code) : "";
}

} // namespace dlc::schema
