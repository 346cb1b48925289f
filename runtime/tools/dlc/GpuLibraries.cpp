// Asks the CUDA driver what it sees, through function pointers: dlc neither links
// nor needs anything of CUDA.

#include "runtime/tools/dlc/Machine.h"

#include "runtime/schema/Simulator.h"

#include <dlfcn.h>

namespace dlc::cli {

namespace {

void *openFirst(std::initializer_list<const char *> names, std::string &opened) {
  for (const char *name : names)
    if (void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      opened = name;
      return library;
    }
  return nullptr;
}

// The few driver entry points used here, as cuda.h declares them.
using CuInit = int (*)(unsigned);
using CuDriverGetVersion = int (*)(int *);
using CuDeviceGetCount = int (*)(int *);
using CuDeviceGet = int (*)(int *, int);
using CuDeviceGetName = int (*)(char *, int, int);
using CuDeviceGetAttribute = int (*)(int *, int, int);
using CuDeviceTotalMem = int (*)(size_t *, int);
using CuGetErrorName = int (*)(int, const char **);

template <typename Function> Function symbol(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string errorName(void *driver, int code) {
  const char *name = nullptr;
  if (auto getName = symbol<CuGetErrorName>(driver, "cuGetErrorName"))
    getName(code, &name);
  return name ? name : "error " + std::to_string(code);
}

/// What is wrong with the driver; empty when the devices could be read.
std::string readDevices(void *driver, std::vector<GpuLibraries::Device> &found) {
  auto init = symbol<CuInit>(driver, "cuInit");
  if (int code = init ? init(0) : -1)
    return errorName(driver, code);
  auto getCount = symbol<CuDeviceGetCount>(driver, "cuDeviceGetCount");
  auto get = symbol<CuDeviceGet>(driver, "cuDeviceGet");
  auto getName = symbol<CuDeviceGetName>(driver, "cuDeviceGetName");
  auto getAttribute = symbol<CuDeviceGetAttribute>(driver, "cuDeviceGetAttribute");
  auto totalMemory = symbol<CuDeviceTotalMem>(driver, "cuDeviceTotalMem_v2");
  if (!getCount || !get || !getName || !getAttribute || !totalMemory)
    return "its entry points are missing";
  int count = 0;
  getCount(&count);
  for (int i = 0; i < count; ++i) {
    GpuLibraries::Device device;
    int handle = 0;
    char name[256] = {};
    size_t memory = 0;
    if (get(&handle, i) != 0)
      continue;
    getName(name, sizeof name - 1, handle);
    constexpr int computeMajor = 75, computeMinor = 76, multiprocessorCount = 16;
    getAttribute(&device.multiprocessors, multiprocessorCount, handle);
    getAttribute(&device.major, computeMajor, handle);
    getAttribute(&device.minor, computeMinor, handle);
    totalMemory(&memory, handle);
    device.name = name;
    device.memoryBytes = memory;
    found.push_back(device);
  }
  return "";
}

} // namespace

GpuLibraries readGpuLibraries() {
  GpuLibraries found;
  openFirst({"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}, found.compiler);
  if (void *simulator = schema::openSimulator(dlsym(RTLD_DEFAULT, "dlc_version")))
    found.simulatorError = readDevices(simulator, found.simulated);
  void *driver = openFirst({"libcuda.so.1", "libcuda.so"}, found.driver);
  if (!driver)
    return found;
  if (auto version = symbol<CuDriverGetVersion>(driver, "cuDriverGetVersion"))
    version(&found.driverVersion);
  found.driverError = readDevices(driver, found.devices);
  return found;
}

} // namespace dlc::cli
