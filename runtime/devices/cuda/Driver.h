// The CUDA driver through function pointers. dlc links nothing of CUDA: the few
// types and prototypes that it uses are declared here as cuda.h has them.

#ifndef DLC_RUNTIME_DEVICES_CUDA_DRIVER_H
#define DLC_RUNTIME_DEVICES_CUDA_DRIVER_H

#include "runtime/core/Status.h"

#include <cstddef>
#include <cstdint>

namespace dlc::rt::cuda {

using Result = int; // CUresult: 0 is success
using DeviceHandle = int;
using Address = unsigned long long; // CUdeviceptr
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Graph = struct CUgraph_st *;
using GraphExec = struct CUgraphExec_st *;

inline constexpr Result kOutOfMemory = 2; // CUDA_ERROR_OUT_OF_MEMORY
enum Attribute : int { kComputeMajor = 75, kComputeMinor = 76 };

/// name of the member, name in the library, return type, parameters
#define DLC_CUDA_DRIVER(X)                                                                    \
  X(init, "cuInit", unsigned)                                                                 \
  X(driverGetVersion, "cuDriverGetVersion", int *)                                            \
  X(deviceGetCount, "cuDeviceGetCount", int *)                                                \
  X(deviceGet, "cuDeviceGet", DeviceHandle *, int)                                            \
  X(deviceGetName, "cuDeviceGetName", char *, int, DeviceHandle)                              \
  X(deviceGetAttribute, "cuDeviceGetAttribute", int *, int, DeviceHandle)                     \
  X(primaryRetain, "cuDevicePrimaryCtxRetain", Context *, DeviceHandle)                       \
  X(primaryRelease, "cuDevicePrimaryCtxRelease_v2", DeviceHandle)                             \
  X(setCurrent, "cuCtxSetCurrent", Context)                                                   \
  X(memGetInfo, "cuMemGetInfo_v2", size_t *, size_t *)                                        \
  X(memAlloc, "cuMemAlloc_v2", Address *, size_t)                                             \
  X(memFree, "cuMemFree_v2", Address)                                                         \
  X(memHostAlloc, "cuMemHostAlloc", void **, size_t, unsigned)                                \
  X(memFreeHost, "cuMemFreeHost", void *)                                                     \
  X(copyHostToDevice, "cuMemcpyHtoDAsync_v2", Address, const void *, size_t, Stream)          \
  X(copyDeviceToHost, "cuMemcpyDtoHAsync_v2", void *, Address, size_t, Stream)                \
  X(copyDeviceToDevice, "cuMemcpyDtoDAsync_v2", Address, Address, size_t, Stream)             \
  X(streamCreate, "cuStreamCreate", Stream *, unsigned)                                       \
  X(streamDestroy, "cuStreamDestroy_v2", Stream)                                              \
  X(streamSynchronize, "cuStreamSynchronize", Stream)                                         \
  X(moduleLoadData, "cuModuleLoadData", Module *, const void *)                               \
  X(moduleUnload, "cuModuleUnload", Module)                                                   \
  X(moduleGetFunction, "cuModuleGetFunction", Function *, Module, const char *)               \
  X(funcSetAttribute, "cuFuncSetAttribute", Function, int, int)                               \
  X(launchKernel, "cuLaunchKernel", Function, unsigned, unsigned, unsigned, unsigned,         \
    unsigned, unsigned, unsigned, Stream, void **, void **)                                   \
  X(beginCapture, "cuStreamBeginCapture_v2", Stream, int)                                     \
  X(endCapture, "cuStreamEndCapture", Stream, Graph *)                                        \
  X(graphInstantiate, "cuGraphInstantiateWithFlags", GraphExec *, Graph, unsigned long long)  \
  X(graphLaunch, "cuGraphLaunch", GraphExec, Stream)                                          \
  X(graphExecDestroy, "cuGraphExecDestroy", GraphExec)                                        \
  X(graphDestroy, "cuGraphDestroy", Graph)                                                    \
  X(getErrorName, "cuGetErrorName", Result, const char **)                                    \
  X(getErrorString, "cuGetErrorString", Result, const char **)

struct Driver {
#define DLC_MEMBER(member, symbol, ...) Result (*member)(__VA_ARGS__) = nullptr;
  DLC_CUDA_DRIVER(DLC_MEMBER)
#undef DLC_MEMBER
  bool isSimulated = false;

  /// "CUDA_ERROR_INVALID_VALUE (invalid argument)"
  std::string errorText(Result code) const;
  /// Success, or an error that says what failed.
  Status check(Result code, const char *what) const;
};

/// The driver, or the simulated one, opened once for the process and kept. Errors
/// name what is missing and how to get it.
Status openDriver(bool simulated, const Driver **driver);

} // namespace dlc::rt::cuda

#endif // DLC_RUNTIME_DEVICES_CUDA_DRIVER_H
