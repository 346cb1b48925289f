// Initialisation, the device and its attributes, contexts, names of errors.

#include "runtime/cudasim/driver/State.h"

#include <cstring>

using namespace dlc::sim;

namespace {

constexpr int kVersion = 13000;
constexpr const char *kName = "dlc simulated CUDA device";

struct Attribute {
  int number, value;
};
// CUdevice_attribute: a small device of generation 9.0.
constexpr Attribute kAttributes[] = {
    {1, 1024},      {2, 1024},    {3, 1024},     {4, 64},       {5, 2147483647}, {6, 65535},
    {7, 65535},     {8, 48 << 10}, {9, 64 << 10}, {10, 32},      {11, 2147483647}, {12, 65536},
    {13, 1000000},  {14, 512},    {15, 1},       {16, 2},       {17, 0},          {18, 0},
    {19, 1},        {20, 0},      {31, 1},       {32, 0},       {33, 0},          {34, 0},
    {35, 0},        {36, 1000000}, {37, 1024},   {38, 4 << 20}, {39, 2048},       {40, 2},
    {41, 1},        {75, 9},      {76, 0},       {78, 1},       {79, 1},          {80, 1},
    {81, 228 << 10}, {82, 65536}, {83, 0},       {84, 0},       {85, 0},          {86, 1},
    {87, 0},        {88, 0},      {89, 0},       {91, 0},       {95, 0},          {96, 0},
    {97, 227 << 10}, {99, 1},     {106, 32},     {111, 1 << 10}, {115, 0}};

struct ErrorName {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorName kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"}};

CUresult needDevice(const State &state, CUdevice device) {
  if (!state.isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

} // namespace

DLC_SIM_API cuInit(unsigned flags) {
  ApiCall call;
  return flags == 0 ? call.state.initialize() : CUDA_ERROR_INVALID_VALUE;
}
DLC_SIM_API cuDriverGetVersion(int *version) {
  *version = kVersion;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuDeviceGetCount(int *count) {
  ApiCall call;
  *count = 1;
  return needDevice(call.state, 0);
}
DLC_SIM_API cuDeviceGet(CUdevice *device, int ordinal) {
  ApiCall call;
  *device = 0;
  return needDevice(call.state, ordinal);
}
DLC_SIM_API cuDeviceGetName(char *name, int length, CUdevice device) {
  ApiCall call;
  if (length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, size_t(length), "%s", kName);
  return needDevice(call.state, device);
}
DLC_SIM_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ApiCall call;
  if (CUresult code = needDevice(call.state, device))
    return code;
  *bytes = call.state.memory->capacity();
  return CUDA_SUCCESS;
}
DLC_SIM_API cuDeviceGetUuid_v2(char *uuid, CUdevice device) {
  ApiCall call;
  memcpy(uuid, "dlc-cudasim-0000", 16);
  return needDevice(call.state, device);
}
DLC_SIM_API cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  ApiCall call;
  if (CUresult code = needDevice(call.state, device))
    return code;
  for (const Attribute &known : kAttributes)
    if (known.number == attribute) {
      *value = known.value;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

DLC_SIM_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ApiCall call;
  if (CUresult code = needDevice(call.state, device))
    return code;
  ++call.state.primaryCount;
  call.state.contexts.insert(&call.state.primary);
  *context = &call.state.primary;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ApiCall call;
  if (CUresult code = needDevice(call.state, device))
    return code;
  if (call.state.primaryCount == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--call.state.primaryCount == 0) {
    call.state.contexts.erase(&call.state.primary);
    if (call.state.contexts.empty())
      call.state.destroyAll();
  }
  return CUDA_SUCCESS;
}
DLC_SIM_API cuDevicePrimaryCtxReset_v2(CUdevice device) {
  ApiCall call;
  if (CUresult code = needDevice(call.state, device))
    return code;
  call.state.destroyAll();
  return CUDA_SUCCESS;
}
DLC_SIM_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  ApiCall call;
  *flags = 0;
  *active = call.state.primaryCount > 0;
  return needDevice(call.state, device);
}
DLC_SIM_API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) {
  ApiCall call;
  return needDevice(call.state, device);
}
DLC_SIM_API cuCtxSetCurrent(CUcontext context) {
  ApiCall call;
  if (context && !call.state.contexts.count(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  currentContext() = context;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuCtxGetCurrent(CUcontext *context) {
  *context = currentContext();
  return CUDA_SUCCESS;
}
DLC_SIM_API cuCtxGetDevice(CUdevice *device) {
  DLC_SIM_ENTER();
  *device = 0;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuCtxSynchronize() {
  DLC_SIM_ENTER();
  return state.synchronizeAll();
}

DLC_SIM_API cuGetErrorName(CUresult code, const char **name) {
  for (const ErrorName &known : kErrors)
    if (known.code == code) {
      *name = known.name;
      return CUDA_SUCCESS;
    }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
DLC_SIM_API cuGetErrorString(CUresult code, const char **text) {
  for (const ErrorName &known : kErrors)
    if (known.code == code) {
      *text = known.text;
      return CUDA_SUCCESS;
    }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
