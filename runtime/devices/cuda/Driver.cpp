#include "runtime/devices/cuda/Driver.h"

#include "runtime/schema/Simulator.h"

#include <dlfcn.h>
#include <mutex>

namespace dlc::rt::cuda {

namespace {

constexpr int kOldestDriver = 12000; // CUDA 12.0

Status load(bool simulated, Driver &driver) {
  void *library = simulated ? schema::openSimulator(reinterpret_cast<void *>(&openDriver))
                            : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library && simulated)
    return fail(DLC_DEVICE, "the simulated CUDA device is not there: %s", dlerror());
  if (!library)
    return fail(DLC_DEVICE, "no CUDA driver: libcuda.so.1 is not on this machine; install "
                "NVIDIA's driver, or use --device=cuda-sim or --device=cpu");
#define DLC_FIND(member, symbol, ...)                                                         \
  driver.member = reinterpret_cast<Result (*)(__VA_ARGS__)>(dlsym(library, symbol));          \
  if (!driver.member)                                                                         \
    return fail(DLC_DEVICE, "the CUDA driver lacks %s: update it", symbol);
  DLC_CUDA_DRIVER(DLC_FIND)
#undef DLC_FIND
  driver.isSimulated = simulated;
  RETURN_IF_ERROR(driver.check(driver.init(0), "starting the CUDA driver"));
  int version = 0;
  RETURN_IF_ERROR(driver.check(driver.driverGetVersion(&version), "reading the driver's version"));
  if (version < kOldestDriver)
    return fail(DLC_DEVICE, "the CUDA driver is for CUDA %d.%d, and dlc needs 12.0: update it",
                version / 1000, version % 1000 / 10);
  return nullptr;
}

} // namespace

std::string Driver::errorText(Result code) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(code, &name);
  getErrorString(code, &text);
  return std::string(name ? name : "unknown error") + " (" + (text ? text : "no text") + ")";
}

Status Driver::check(Result code, const char *what) const {
  if (code == 0)
    return nullptr;
  return fail(code == kOutOfMemory ? DLC_OUT_OF_MEMORY : DLC_DEVICE, "%s: %s", what,
              errorText(code).c_str());
}

Status openDriver(bool simulated, const Driver **driver) {
  static std::mutex mutex;
  static Driver drivers[2];
  static bool isOpen[2];
  std::lock_guard<std::mutex> lock(mutex);
  if (!isOpen[simulated])
    RETURN_IF_ERROR(load(simulated, drivers[simulated]));
  isOpen[simulated] = true;
  *driver = &drivers[simulated];
  return nullptr;
}

} // namespace dlc::rt::cuda
