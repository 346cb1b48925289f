// What the driver's functions share: the device, its streams, what was reported.

#ifndef DLC_RUNTIME_CUDASIM_DRIVER_STATE_H
#define DLC_RUNTIME_CUDASIM_DRIVER_STATE_H

#include "runtime/cudasim/driver/StreamOrder.h"

#include <deque>
#include <functional>
#include <set>

#define DLC_SIM_API extern "C" __attribute__((visibility("default"))) CUresult

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
};

namespace dlc::sim {

/// What a stream does in turn. 0, or the error that ends the context.
using Work = std::function<CUresult()>;

struct Point { // a place in a stream's work
  CUstream stream = nullptr;
  uint64_t sequence = 0;
};
struct QueuedWork {
  Work work;
  Point after; // of another stream, when it waits for one
  uint64_t order = 0;
  OrderedWork ordered = {}; // of work
};

} // namespace dlc::sim

struct CUctx_st {
  bool isPrimary = false;
};
struct CUmod_st {
  std::unique_ptr<dlc::sim::Program> program;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};
struct CUfunc_st {
  CUmodule module = nullptr;
  const dlc::sim::Code *code = nullptr;
  int maxDynamicShared = 48 << 10;
  int carveout = -1;
};
struct CUgraph_st {
  std::vector<dlc::sim::Work> nodes;
};
struct CUgraphExec_st {
  std::vector<dlc::sim::Work> nodes;
};
struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  uint64_t number = 0;
  dlc::sim::Clock clock; // what its next work comes after
  std::deque<dlc::sim::QueuedWork> queue;
  uint64_t enqueued = 0, done = 0;
  CUgraph capture = nullptr;
  bool isCaptureOrigin = false;
};
struct CUevent_st {
  bool isRecorded = false;
  dlc::sim::Point point;
  dlc::sim::Clock clock; // of its stream when it was recorded
  CUgraph capture = nullptr; // recorded while its stream was captured
};

namespace dlc::sim {

struct HostBlock {
  uint64_t bytes = 0;
  bool isRegistered = false;
};

class State {
public:
  static State &get();

  std::recursive_mutex mutex;
  bool isInitialized = false;
  std::unique_ptr<DeviceMemory> memory;
  CUctx_st primary{true};
  unsigned primaryCount = 0;
  std::set<CUcontext> contexts;
  std::set<CUmodule> modules;
  std::set<CUstream> streams; // all but the default one
  std::set<CUevent> events;
  CUstream_st defaultStream;
  std::map<uint64_t, HostBlock> hostBlocks;
  Options options;
  CUresult sticky = CUDA_SUCCESS;
  uint64_t numLaunches = 0;
  std::string report;
  StreamOrder order;
  uint64_t numStreams = 0; // ever made

  CUresult initialize();
  /// Success when calls that need a context may go on.
  CUresult ready();
  CUstream find(CUstream stream); // null when there is no such stream

  CUresult enqueue(CUstream stream, Work work);
  void waitFor(CUstream stream, Point point, const Clock &clock);
  /// Runs what was asked for; returns the sticky error.
  CUresult finish(CUstream stream, uint64_t sequence);
  CUresult finishAll();
  /// As `finish` of all its work, for a host that waits: what it asks for next comes after.
  CUresult synchronize(CUstream stream);
  CUresult synchronizeAll();
  void noteWaited(const Clock &clock) { host.merge(clock); }
  /// Says and returns the error when a range is accessed without an order.
  CUresult checkOrder(uint64_t address, uint64_t bytes, bool isWrite, const char *what);
  bool isPinned(const void *host, uint64_t bytes) const;
  bool release(uint64_t address); // as DeviceMemory's, forgotten by all checkers
  void say(const std::string &text);
  void reportLeaks();
  void destroyAll();

private:
  void runNext(CUstream stream);
  bool isConcurrent(const OrderedWork &work) const;
  uint64_t orders = 0;
  Clock host; // what the host has waited for
};

CUcontext &currentContext();

/// Locks the state; every function of the driver starts with it.
struct ApiCall {
  State &state = State::get();
  std::lock_guard<std::recursive_mutex> lock{state.mutex};
};

#define DLC_SIM_ENTER()                                                                       \
  ::dlc::sim::ApiCall apiCall;                                                                    \
  [[maybe_unused]] ::dlc::sim::State &state = apiCall.state;                                    \
  if (CUresult code_ = state.ready())                                                         \
    return code_;

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_DRIVER_STATE_H
