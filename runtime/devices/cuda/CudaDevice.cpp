#include "runtime/devices/cuda/CudaDevice.h"

#include "runtime/core/ThreadPool.h"
#include "runtime/devices/cuda/CudaStream.h"
#include "runtime/schema/ContentHash.h"
#include "runtime/schema/DeviceImages.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace dlc::rt {

Status openDevice(const char *name, const Program &program, const char *cacheFolder,
                  std::unique_ptr<Device> *device) {
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
  RETURN_IF_ERROR(cuda->open(kind == "cuda-sim", int(ordinal), program, cacheFolder));
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

Status CudaDevice::open(bool simulated, int ordinal, const Program &program,
                        const char *cacheFolder) {
  programName = program.name;
  RETURN_IF_ERROR(openContext(simulated, ordinal));
  RETURN_IF_ERROR(loadKernels(program, schema::CodeCache(cacheFolder ? cacheFolder : "")));
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

const schema::DeviceImage *CudaDevice::chooseImage(const schema::DeviceKernel &kernel) const {
  const schema::DeviceImage *best = nullptr;
  for (uint32_t i = 0; kernel.images() && i < kernel.images()->size(); ++i) {
    const schema::DeviceImage *image = kernel.images()->Get(i);
    // The simulator reads PTX alone.
    bool isReadable = !driver->isSimulated || image->kind() == schema::ImageKind::Ptx;
    if (!isReadable || !schema::runsOn(*image, architecture))
      continue;
    auto rank = [](const schema::DeviceImage &x) {
      return (x.kind() == schema::ImageKind::Cubin ? 1000 : 0) + schema::architectureOf(x);
    };
    if (!best || rank(*image) > rank(*best))
      best = image;
  }
  return best;
}

Status CudaDevice::loadKernels(const Program &program, const schema::CodeCache &cache) {
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
  for (uint32_t i = 0; i < count; ++i) {
    kernels[i].table = code->kernels()->Get(i);
    kernels[i].name = program.table().kernels()->Get(i)->name()->str();
  }
  // What is missing is compiled on all cores.
  std::vector<std::string> codes(count);
  std::vector<Status> problems(count);
  std::atomic<uint32_t> next{0};
  auto work = [&] {
    for (uint32_t i; (i = next++) < count;)
      problems[i] = findCode(program, *code, i, cache, codes[i]);
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i < uint32_t(availableThreads()) && i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (uint32_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(std::move(problems[i]));
    RETURN_IF_ERROR(loadKernel(i, codes[i]));
  }
  return nullptr;
}

Status CudaDevice::readImage(const Program &program, const schema::DeviceImage &image,
                             const std::string &kernel, std::string &bytes) const {
  bytes.assign(program.mapping().data + image.offset(), image.size_bytes());
  if (image.hash() != schema::contentHash(bytes.data(), bytes.size()))
    return fail(DLC_USAGE, "%s: damaged: the code of kernel %s differs from its hash; compile it "
                "again", programName.c_str(), kernel.c_str());
  return nullptr;
}

Status CudaDevice::findCode(const Program &program, const schema::DeviceProgram &code,
                            uint32_t index, const schema::CodeCache &cache, std::string &bytes) const {
  const schema::DeviceImage *image = chooseImage(*kernels[index].table);
  bool isExact = image && (image->kind() == schema::ImageKind::Cubin || driver->isSimulated);
  if (isExact)
    return readImage(program, *image, kernels[index].name, bytes);
  // The driver can compile PTX too, but keeps it where it likes, and for a newer
  // device the source says more than the PTX of an older one.
  Status compiled = compileSource(program, code, index, cache, bytes);
  return compiled && image ? readImage(program, *image, kernels[index].name, bytes)
                           : std::move(compiled);
}

Status CudaDevice::compileSource(const Program &program, const schema::DeviceProgram &code,
                                 uint32_t index, const schema::CodeCache &cache, std::string &bytes) const {
  const DeviceKernel &kernel = kernels[index];
  const schema::DeviceImage *source = nullptr;
  for (uint32_t i = 0; kernel.table->images() && i < kernel.table->images()->size(); ++i)
    if (kernel.table->images()->Get(i)->kind() == schema::ImageKind::Source)
      source = kernel.table->images()->Get(i);
  std::string error = "its source is not in the artifact";
  const schema::Nvrtc *nvrtc = source ? schema::Nvrtc::get(error) : nullptr;
  if (!nvrtc)
    return fail(DLC_UNSUPPORTED, "%s: kernel %s: no code in it runs on %s (sm_%d), and it cannot "
                "be compiled here: %s; compile with --target=cuda:sm_%d", programName.c_str(),
                kernel.name.c_str(), deviceName.c_str(), architecture, error.c_str(), architecture);
  schema::NvrtcJob job{kernel.name + ".cu", "", code.headers()->str(), {},
                       (driver->isSimulated ? "compute_" : "sm_") + std::to_string(architecture)};
  RETURN_IF_ERROR(readImage(program, *source, kernel.name, job.source));
  for (uint32_t i = 0; code.options() && i < code.options()->size(); ++i)
    job.options.push_back(code.options()->Get(i)->str());
  schema::NvrtcResult result;
  error = cache.compile(*nvrtc, job, result);
  if (!error.empty())
    return fail(DLC_UNSUPPORTED, "%s: %s", programName.c_str(), error.c_str());
  bytes = driver->isSimulated ? std::move(result.ptx) : std::move(result.cubin);
  return nullptr;
}

Status CudaDevice::loadKernel(uint32_t index, const std::string &code) {
  DeviceKernel &kernel = kernels[index];
  if (!kernel.table->launches() || kernel.table->launches()->size() == 0)
    return nullptr; // its results have no elements
  // PTX is text that ends with a zero byte; c_str() has it.
  std::string what = programName + ": loading kernel " + kernel.name;
  RETURN_IF_ERROR(driver->check(driver->moduleLoadData(&kernel.module, code.c_str()), what.c_str()));
  for (uint32_t i = 0; i < kernel.table->launches()->size(); ++i) {
    DeviceKernel::Launch launch = {kernel.table->launches()->Get(i), nullptr, nullptr};
    RETURN_IF_ERROR(loadFunction(kernel, *launch.table, launch.table->function()->c_str(), &launch.function));
    if (launch.table->narrow_function())
      RETURN_IF_ERROR(loadFunction(kernel, *launch.table, launch.table->narrow_function()->c_str(), &launch.narrow));
    kernel.launches.push_back(launch);
  }
  return nullptr;
}

Status CudaDevice::loadFunction(const DeviceKernel &kernel, const schema::Launch &launch, const char *name,
                                Function *function) const {
  std::string what = programName + ": loading kernel " + kernel.name;
  RETURN_IF_ERROR(driver->check(driver->moduleGetFunction(function, kernel.module, name), what.c_str()));
  constexpr unsigned mostStaticShared = 48 << 10;
  constexpr int maxDynamicShared = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  if (launch.shared_bytes() <= mostStaticShared)
    return nullptr;
  return driver->check(driver->funcSetAttribute(*function, maxDynamicShared, launch.shared_bytes()), what.c_str());
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
  if (list.size() == 0)
    return nullptr;
  std::unique_ptr<DeviceStream> stream;
  RETURN_IF_ERROR(createStream(&stream));
  void *memory = nullptr;
  // Empty constants too have an address: null means that a value has no place.
  RETURN_IF_ERROR(stream->allocate(std::max(size, alignment), &memory));
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
