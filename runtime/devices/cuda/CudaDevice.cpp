#include "runtime/devices/cuda/CudaDevice.h"

#include "runtime/devices/cuda/CudaStream.h"
#include "runtime/schema/ContentHash.h"

#include <cstdlib>
#include <cstring>

namespace dlc::rt {

Status openDevice(const char *name, const Program &program, std::unique_ptr<Device> *device) {
  std::string kind = name, number;
  if (size_t colon = kind.find(':'); colon != std::string::npos) {
    number = kind.substr(colon + 1);
    kind.resize(colon);
  }
  char *end = nullptr;
  long ordinal = strtol(number.c_str(), &end, 10);
  if ((kind != "cuda" && kind != "cuda-sim") || *end || ordinal < 0 || ordinal > 1023)
    return fail(DLC_USAGE, "there is no device '%s'; there are cpu, cuda, cuda:1, ... and cuda-sim",
                name);
  auto cuda = std::make_unique<cuda::CudaDevice>();
  RETURN_IF_ERROR(cuda->open(kind == "cuda-sim", int(ordinal), program));
  *device = std::move(cuda);
  return nullptr;
}

namespace cuda {

CudaDevice::~CudaDevice() {
  if (!isRetained)
    return;
  driver->setCurrent(context);
  for (DeviceKernel &kernel : kernels)
    if (kernel.module)
      driver->moduleUnload(kernel.module);
  if (constants)
    driver->memFree(reinterpret_cast<Address>(constants));
  driver->primaryRelease(handle);
}

Status CudaDevice::open(bool simulated, int ordinal, const Program &program) {
  programName = program.name;
  RETURN_IF_ERROR(openContext(simulated, ordinal));
  RETURN_IF_ERROR(loadKernels(program));
  return uploadConstants(program);
}

Status CudaDevice::openContext(bool simulated, int ordinal) {
  RETURN_IF_ERROR(openDriver(simulated, &driver));
  int count = 0;
  RETURN_IF_ERROR(driver->check(driver->deviceGetCount(&count), "counting CUDA devices"));
  if (ordinal >= count)
    return fail(DLC_DEVICE, "there is no CUDA device %d: the driver knows %d", ordinal, count);
  RETURN_IF_ERROR(driver->check(driver->deviceGet(&handle, ordinal), "opening the CUDA device"));
  char text[256] = {};
  driver->deviceGetName(text, sizeof(text) - 1, handle);
  deviceName = text;
  int major = 0, minor = 0;
  RETURN_IF_ERROR(driver->check(driver->deviceGetAttribute(&major, kComputeMajor, handle),
                                "reading the device's capability"));
  RETURN_IF_ERROR(driver->check(driver->deviceGetAttribute(&minor, kComputeMinor, handle),
                                "reading the device's capability"));
  architecture = major * 10 + minor;
  RETURN_IF_ERROR(driver->check(driver->primaryRetain(&context, handle), "opening a CUDA context"));
  isRetained = true;
  return driver->check(driver->setCurrent(context), "using the CUDA context");
}

static int numberOf(const schema::DeviceImage &image) {
  const char *text = image.architecture() ? image.architecture()->c_str() : "";
  return strncmp(text, "sm_", 3) == 0 ? atoi(text + 3) : 0;
}

const schema::DeviceImage *CudaDevice::chooseImage(const schema::DeviceKernel &kernel) const {
  const schema::DeviceImage *best = nullptr;
  for (uint32_t i = 0; kernel.images() && i < kernel.images()->size(); ++i) {
    const schema::DeviceImage *image = kernel.images()->Get(i);
    int number = numberOf(*image);
    bool isCubin = image->kind() == schema::ImageKind::Cubin;
    // Machine code runs on its own generation from its own minor version on; the
    // simulator reads PTX alone.
    bool runs = isCubin ? !driver->isSimulated && number / 10 == architecture / 10 &&
                              number <= architecture
                        : image->kind() == schema::ImageKind::Ptx && number <= architecture;
    if (!runs)
      continue;
    auto rank = [](const schema::DeviceImage &x) {
      return (x.kind() == schema::ImageKind::Cubin ? 1000 : 0) + numberOf(x);
    };
    if (!best || rank(*image) > rank(*best))
      best = image;
  }
  return best;
}

Status CudaDevice::loadKernels(const Program &program) {
  const schema::DeviceProgram *code = nullptr;
  const auto *devices = program.table().devices();
  for (uint32_t i = 0; devices && i < devices->size(); ++i)
    if (strcmp(devices->Get(i)->target()->c_str(), "cuda") == 0)
      code = devices->Get(i);
  uint32_t count = program.table().kernels()->size();
  if (count > 0 && !code)
    return fail(DLC_UNSUPPORTED, "%s: there is no CUDA code in it; compile with "
                "--target=cuda:sm_%d", programName.c_str(), architecture);
  kernels.resize(count);
  for (uint32_t i = 0; i < count; ++i)
    RETURN_IF_ERROR(loadKernel(program, *code, i));
  return nullptr;
}

Status CudaDevice::loadKernel(const Program &program, const schema::DeviceProgram &code,
                              uint32_t index) {
  DeviceKernel &kernel = kernels[index];
  kernel.table = code.kernels()->Get(index);
  kernel.name = program.table().kernels()->Get(index)->name()->str();
  const schema::DeviceImage *image = chooseImage(*kernel.table);
  if (!image)
    return fail(DLC_UNSUPPORTED, "%s: kernel %s: no code in it runs on %s (sm_%d); compile with "
                "--target=cuda:sm_%d", programName.c_str(), kernel.name.c_str(),
                deviceName.c_str(), architecture, architecture);
  const char *bytes = program.mapping().data + image->offset();
  if (image->hash() != schema::contentHash(bytes, image->size_bytes()))
    return fail(DLC_USAGE, "%s: damaged: the code of kernel %s differs from its hash; compile it "
                "again", programName.c_str(), kernel.name.c_str());
  // PTX is text that ends with a zero byte, which the file does not have.
  std::string copy(bytes, image->size_bytes());
  std::string what = programName + ": loading kernel " + kernel.name;
  RETURN_IF_ERROR(driver->check(driver->moduleLoadData(&kernel.module, copy.c_str()), what.c_str()));
  for (uint32_t i = 0; kernel.table->launches() && i < kernel.table->launches()->size(); ++i) {
    const schema::Launch *launch = kernel.table->launches()->Get(i);
    Function function = nullptr;
    RETURN_IF_ERROR(driver->check(
        driver->moduleGetFunction(&function, kernel.module, launch->function()->c_str()),
        what.c_str()));
    constexpr unsigned mostStaticShared = 48 << 10;
    constexpr int maxDynamicShared = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    if (launch->shared_bytes() > mostStaticShared)
      RETURN_IF_ERROR(driver->check(
          driver->funcSetAttribute(function, maxDynamicShared, launch->shared_bytes()), what.c_str()));
    kernel.launches.push_back({launch, function});
  }
  return nullptr;
}

/// All constants in one block, once.
Status CudaDevice::uploadConstants(const Program &program) {
  constexpr int64_t alignment = 256;
  const auto &list = *program.table().constants();
  int64_t size = 0;
  for (uint32_t i = 0; i < list.size(); ++i) {
    constantOffsets.push_back(size);
    size += (int64_t(list.Get(i)->size_bytes()) + alignment - 1) / alignment * alignment;
  }
  if (size == 0)
    return nullptr;
  std::unique_ptr<DeviceStream> stream;
  RETURN_IF_ERROR(createStream(&stream));
  void *memory = nullptr;
  RETURN_IF_ERROR(stream->allocate(size, &memory));
  constants = static_cast<char *>(memory);
  for (uint32_t i = 0; i < list.size(); ++i)
    if (list.Get(i)->size_bytes() > 0)
      RETURN_IF_ERROR(stream->upload(constant(i), program.constantData(i), list.Get(i)->size_bytes()));
  return stream->synchronize();
}

Status CudaDevice::createStream(std::unique_ptr<DeviceStream> *stream) {
  auto created = std::make_unique<CudaStream>(*this);
  RETURN_IF_ERROR(created->open());
  *stream = std::move(created);
  return nullptr;
}

} // namespace cuda
} // namespace dlc::rt
