// A CUDA device with an artifact's kernels and constants on it.

#ifndef DLC_RUNTIME_DEVICES_CUDA_CUDADEVICE_H
#define DLC_RUNTIME_DEVICES_CUDA_CUDADEVICE_H

#include "runtime/core/Device.h"
#include "runtime/core/Program.h"
#include "runtime/devices/cuda/Driver.h"
#include "runtime/schema/CodeCache.h"

namespace dlc::rt::cuda {

/// A kernel of the artifact: its launches in order.
struct DeviceKernel {
  struct Launch {
    const schema::Launch *table;
    Function function, narrow; // narrow: null where there is none
  };
  const schema::DeviceKernel *table = nullptr;
  Module module = nullptr;
  std::vector<Launch> launches;
  std::string name;
};

class CudaDevice : public Device {
public:
  ~CudaDevice() override;
  Status open(bool simulated, int ordinal, const Program &program, const char *cacheFolder);

  void *constant(uint32_t index) const override { return constants + constantOffsets[index]; }
  Status createStream(std::unique_ptr<DeviceStream> *stream) override;
  const std::string &name() const override { return deviceName; }

  const Driver *driver = nullptr;
  Context context = nullptr;
  std::vector<DeviceKernel> kernels;
  std::string programName;
  int architecture = 0; // 80, 90

private:
  Status openContext(bool simulated, int ordinal);
  Status loadKernels(const Program &program, const schema::CodeCache &cache);
  /// The code to load: an image of the artifact, or one compiled from its source now.
  Status findCode(const Program &program, const schema::DeviceProgram &code, uint32_t index,
                  const schema::CodeCache &cache, std::string &bytes) const;
  Status compileSource(const Program &program, const schema::DeviceProgram &code, uint32_t index,
                       const schema::CodeCache &cache, std::string &bytes) const;
  Status readImage(const Program &program, const schema::DeviceImage &image,
                   const std::string &kernel, std::string &bytes) const;
  Status loadKernel(uint32_t index, const std::string &code);
  Status loadFunction(const DeviceKernel &kernel, const schema::Launch &launch, const char *name,
                      Function *function) const;
  /// The best image for this device: machine code of its own generation, else PTX.
  const schema::DeviceImage *chooseImage(const schema::DeviceKernel &kernel) const;
  Status uploadConstants(const Program &program);

  DeviceHandle handle = 0;
  bool isRetained = false;
  std::string deviceName;
  char *constants = nullptr;
  std::vector<int64_t> constantOffsets;
};

} // namespace dlc::rt::cuda

#endif // DLC_RUNTIME_DEVICES_CUDA_CUDADEVICE_H
