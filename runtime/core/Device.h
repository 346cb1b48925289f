// Where instructions run when that is not the CPU: memory, kernels and a queue of
// work of a device. The executor knows nothing else of it.

#ifndef DLC_RUNTIME_CORE_DEVICE_H
#define DLC_RUNTIME_CORE_DEVICE_H

#include "runtime/core/Status.h"

#include "runtime/schema/artifact_generated.h"

#include <string>
#include <vector>

namespace dlc::rt {

class Program;

/// Recorded work that is started as one.
class DeviceGraph {
public:
  virtual ~DeviceGraph() = default;
};

/// One run's queue of work, executed in order. Used by one thread at a time.
class DeviceStream {
public:
  virtual ~DeviceStream() = default;

  /// Device memory, and host memory that copies reach directly. Errors say how much
  /// was asked for and how much is free.
  virtual Status allocate(int64_t bytes, void **memory) = 0;
  virtual Status allocateHost(int64_t bytes, void **memory) = 0;
  /// Wait for the work that uses the memory. Null is nothing.
  virtual void release(void *memory) = 0;
  virtual void releaseHost(void *memory) = 0;

  /// Queue copies; the host's memory must stay until they are done.
  virtual Status upload(void *to, const void *from, int64_t bytes) = 0;
  virtual Status download(void *to, const void *from, int64_t bytes) = 0;
  virtual Status copy(void *to, const void *from, int64_t bytes) = 0;
  /// Queues kernel `index` of the artifact on its operands. `workspace` has at least
  /// workspaceBytes().
  virtual Status launch(uint32_t index, void *const *operands, size_t numOperands,
                        const int64_t *dims, size_t numDims, void *workspace) = 0;
  virtual int64_t workspaceBytes(uint32_t index, const int64_t *dims, size_t numDims) = 0;
  /// Waits for everything queued; reports what went wrong in it.
  virtual Status synchronize() = 0;

  /// What is queued between these is recorded and not run.
  virtual Status beginCapture() = 0;
  virtual Status endCapture(std::unique_ptr<DeviceGraph> *graph) = 0;
  virtual Status run(DeviceGraph &graph) = 0;
};

/// A device with one artifact's kernels and constants on it.
class Device {
public:
  virtual ~Device() = default;
  /// Where a constant of the artifact lies.
  virtual void *constant(uint32_t index) const = 0;
  virtual Status createStream(std::unique_ptr<DeviceStream> *stream) = 0;
  virtual const std::string &name() const = 0;
};

/// Opens "cuda", "cuda:1" or "cuda-sim" and puts the artifact on it.
/// `cacheFolder` keeps what has to be compiled for it; null: nothing is kept.
Status openDevice(const char *name, const Program &program, const char *cacheFolder,
                  std::unique_ptr<Device> *device);

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_DEVICE_H
