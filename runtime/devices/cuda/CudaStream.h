// One run's queue on a CUDA device.

#ifndef DLC_RUNTIME_DEVICES_CUDA_CUDASTREAM_H
#define DLC_RUNTIME_DEVICES_CUDA_CUDASTREAM_H

#include "runtime/devices/cuda/CudaDevice.h"

namespace dlc::rt::cuda {

class CudaStream : public DeviceStream {
public:
  explicit CudaStream(CudaDevice &device) : device(device), driver(*device.driver) {}
  ~CudaStream() override;
  Status open();

  Status allocate(int64_t bytes, void **memory) override;
  Status allocateHost(int64_t bytes, void **memory) override;
  void release(void *memory) override;
  void releaseHost(void *memory) override;
  Status upload(void *to, const void *from, int64_t bytes) override;
  Status download(void *to, const void *from, int64_t bytes) override;
  Status copy(void *to, const void *from, int64_t bytes) override;
  Status launch(uint32_t index, void *const *operands, size_t numOperands, const int64_t *dims,
                size_t numDims, void *workspace) override;
  int64_t workspaceBytes(uint32_t index, const int64_t *dims, size_t numDims) override;
  Status synchronize() override;
  Status beginCapture() override;
  Status endCapture(std::unique_ptr<DeviceGraph> *graph) override;
  Status run(DeviceGraph &graph) override;

private:
  Status enter(const char *what);
  Status evaluate(const schema::Expr &expr, const int64_t *dims, size_t numDims, int64_t &result);

  CudaDevice &device;
  const Driver &driver;
  Stream stream = nullptr;
  std::vector<char> allBound;        // every dim has a value
  std::vector<uint64_t> values;      // of the arguments of a launch
  std::vector<void *> arguments;     // their addresses
};

} // namespace dlc::rt::cuda

#endif // DLC_RUNTIME_DEVICES_CUDA_CUDASTREAM_H
