// In place of the CUDA device in a build without it (DLC_CUDA=OFF).

#include "runtime/core/Device.h"

namespace dlc::rt {

Status openDevice(const char *name, const Program &, const char *, std::unique_ptr<Device> *) {
  return fail(DLC_USAGE, "there is no device '%s': this runtime is built for the CPU alone (DLC_CUDA=OFF)", name);
}

} // namespace dlc::rt
