// Allocation, pinned memory, copies and fills.

#include "runtime/cudasim/driver/State.h"

#include <cstdlib>
#include <cstring>

using namespace dlc::sim;

namespace {

const char *address(CUdeviceptr pointer) { return reinterpret_cast<const char *>(pointer); }
char *mutableAddress(CUdeviceptr pointer) { return reinterpret_cast<char *>(pointer); }

/// Empty ranges are fine anywhere.
CUresult check(State &state, CUdeviceptr pointer, size_t bytes, const char *what) {
  if (bytes == 0 || state.memory->isLive(pointer, bytes))
    return CUDA_SUCCESS;
  state.say(std::string("cudasim: ") + what + " of " + std::to_string(bytes) + " bytes: " + state.memory->complaint(pointer, bytes));
  return CUDA_ERROR_INVALID_VALUE;
}

uint64_t hashOf(const void *data, size_t bytes) {
  uint64_t hash = 1469598103934665603u;
  auto at = static_cast<const unsigned char *>(data);
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

/// The work of a copy fails as the device would when its memory is gone by then.
CUresult checkLate(State &state, CUdeviceptr pointer, size_t bytes, const char *what) {
  return check(state, pointer, bytes, what) ? kIllegalAddress : CUDA_SUCCESS;
}

CUresult copyIn(State &state, CUdeviceptr to, const void *from, size_t bytes) {
  if (CUresult code = checkLate(state, to, bytes, "copy to the device"))
    return code;
  if (CUresult code = state.checkOrder(to, bytes, true, "copy to the device"))
    return code;
  memcpy(mutableAddress(to), from, bytes);
  state.memory->markWritten(to, bytes);
  return CUDA_SUCCESS;
}
CUresult copyOut(State &state, void *to, CUdeviceptr from, size_t bytes) {
  if (CUresult code = checkLate(state, from, bytes, "copy from the device"))
    return code;
  if (CUresult code = state.checkOrder(from, bytes, false, "copy from the device"))
    return code;
  if (state.options.checksUninitialized && !state.memory->isWritten(from, bytes)) {
    state.say("cudasim: copy from the device of " + std::to_string(bytes) + " bytes: not all of them were written");
    if (state.options.failsOnFindings)
      return kLaunchFailed;
  }
  memcpy(to, address(from), bytes);
  return CUDA_SUCCESS;
}

CUresult fill(CUdeviceptr to, uint32_t value, unsigned width, size_t count, CUstream stream) {
  DLC_SIM_ENTER();
  if (count > ~size_t(0) / 4 || to % width != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult code = check(state, to, count * width, "fill"))
    return code;
  return state.enqueue(stream, [=, &state]() -> CUresult {
    if (CUresult code = checkLate(state, to, count * width, "fill"))
      return code;
    if (CUresult code = state.checkOrder(to, count * width, true, "fill"))
      return code;
    for (size_t i = 0; i < count; ++i)
      memcpy(mutableAddress(to) + i * width, &value, width);
    state.memory->markWritten(to, count * width);
    return CUDA_SUCCESS;
  });
}
CUresult finishDefault(CUresult code) {
  State &state = State::get();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  return code ? code : state.synchronize(&state.defaultStream);
}

} // namespace

DLC_SIM_API cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  DLC_SIM_ENTER();
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *pointer = state.memory->allocate(bytes);
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
DLC_SIM_API cuMemFree_v2(CUdeviceptr pointer) {
  DLC_SIM_ENTER();
  if (pointer == 0)
    return CUDA_SUCCESS;
  if (CUresult code = state.synchronizeAll())
    return code;
  if (state.release(pointer))
    return CUDA_SUCCESS;
  state.say("cudasim: free of something that is not allocated: " + state.memory->complaint(pointer, 1));
  return CUDA_ERROR_INVALID_VALUE;
}
DLC_SIM_API cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  DLC_SIM_ENTER();
  if (!state.find(stream) || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *pointer = state.memory->allocate(bytes);
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
DLC_SIM_API cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  DLC_SIM_ENTER();
  if (!state.memory->isLive(pointer, 1))
    return CUDA_ERROR_INVALID_VALUE;
  return state.enqueue(stream, [=, &state]() -> CUresult {
    return state.release(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
DLC_SIM_API cuMemGetInfo_v2(size_t *available, size_t *total) {
  DLC_SIM_ENTER();
  *available = state.memory->available();
  *total = state.memory->capacity();
  return CUDA_SUCCESS;
}
DLC_SIM_API cuMemHostAlloc(void **host, size_t bytes, unsigned) {
  DLC_SIM_ENTER();
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *host = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*host)
    return CUDA_ERROR_OUT_OF_MEMORY;
  state.hostBlocks[reinterpret_cast<uint64_t>(*host)] = {bytes, false};
  return CUDA_SUCCESS;
}
DLC_SIM_API cuMemAllocHost_v2(void **host, size_t bytes) { return cuMemHostAlloc(host, bytes, 0); }
DLC_SIM_API cuMemFreeHost(void *host) {
  DLC_SIM_ENTER();
  auto found = state.hostBlocks.find(reinterpret_cast<uint64_t>(host));
  if (found == state.hostBlocks.end() || found->second.isRegistered)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult code = state.synchronizeAll();
  free(host);
  state.hostBlocks.erase(found);
  return code;
}
DLC_SIM_API cuMemHostRegister_v2(void *host, size_t bytes, unsigned) {
  DLC_SIM_ENTER();
  if (!host || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  state.hostBlocks[reinterpret_cast<uint64_t>(host)] = {bytes, true};
  return CUDA_SUCCESS;
}
DLC_SIM_API cuMemHostUnregister(void *host) {
  DLC_SIM_ENTER();
  auto found = state.hostBlocks.find(reinterpret_cast<uint64_t>(host));
  if (found == state.hostBlocks.end() || !found->second.isRegistered)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult code = state.synchronizeAll();
  state.hostBlocks.erase(found);
  return code;
}

DLC_SIM_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  DLC_SIM_ENTER();
  if (CUresult code = check(state, to, bytes, "copy to the device"))
    return code;
  CUstream found = state.find(stream);
  if (!found)
    return CUDA_ERROR_INVALID_HANDLE;
  if (found->capture || state.isPinned(from, bytes)) {
    bool isCaptured = found->capture;
    uint64_t hash = isCaptured || !state.options.checksUninitialized ? 0 : hashOf(from, bytes);
    return state.enqueue(stream, [=, &state]() -> CUresult {
      if (hash && hashOf(from, bytes) != hash) {
        state.say("cudasim: the source of an asynchronous copy of " + std::to_string(bytes) + " bytes to the device was changed before the copy was done");
        if (state.options.failsOnFindings)
          return kLaunchFailed;
      }
      return copyIn(state, to, from, bytes);
    });
  }
  // Pageable memory is staged when the copy is asked for.
  auto staged = std::make_shared<std::vector<char>>(static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
  return state.enqueue(stream, [=, &state]() -> CUresult { return copyIn(state, to, staged->data(), staged->size()); });
}
DLC_SIM_API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  DLC_SIM_ENTER();
  if (CUresult code = check(state, from, bytes, "copy from the device"))
    return code;
  CUstream found = state.find(stream);
  if (!found)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult code = state.enqueue(stream, [=, &state]() -> CUresult { return copyOut(state, to, from, bytes); });
  // To pageable memory the copy is done when the call returns.
  return code || found->capture || state.isPinned(to, bytes) ? code : state.synchronize(found);
}
DLC_SIM_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  DLC_SIM_ENTER();
  if (CUresult code = check(state, to, bytes, "copy on the device"))
    return code;
  if (CUresult code = check(state, from, bytes, "copy on the device"))
    return code;
  return state.enqueue(stream, [=, &state]() -> CUresult {
    if (checkLate(state, to, bytes, "copy on the device") || checkLate(state, from, bytes, "copy on the device"))
      return kIllegalAddress;
    if (CUresult code = state.checkOrder(from, bytes, false, "copy on the device"))
      return code;
    if (CUresult code = state.checkOrder(to, bytes, true, "copy on the device"))
      return code;
    memmove(mutableAddress(to), address(from), bytes);
    state.memory->copyWritten(to, from, bytes);
    return CUDA_SUCCESS;
  });
}
DLC_SIM_API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return finishDefault(cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr));
}
DLC_SIM_API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return finishDefault(cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr));
}
DLC_SIM_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return finishDefault(cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr));
}
DLC_SIM_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) { return fill(to, value, 1, count, stream); }
DLC_SIM_API cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) { return fill(to, value, 2, count, stream); }
DLC_SIM_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) { return fill(to, value, 4, count, stream); }
DLC_SIM_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return finishDefault(fill(to, value, 1, count, nullptr)); }
DLC_SIM_API cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) { return finishDefault(fill(to, value, 2, count, nullptr)); }
DLC_SIM_API cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) { return finishDefault(fill(to, value, 4, count, nullptr)); }
