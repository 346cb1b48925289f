#include "runtime/devices/cuda/CudaStream.h"

#include "runtime/schema/DeviceImages.h"

#include <algorithm>

namespace dlc::rt::cuda {

namespace {

constexpr int64_t kTemporaryAlignment = 256;
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kThreadLocalCapture = 1; // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

Address toAddress(const void *memory) { return reinterpret_cast<Address>(memory); }

class CudaGraph : public DeviceGraph {
public:
  CudaGraph(const Driver &driver, GraphExec exec) : driver(driver), exec(exec) {}
  ~CudaGraph() override { driver.graphExecDestroy(exec); }
  const Driver &driver;
  GraphExec exec;
};

} // namespace

CudaStream::~CudaStream() {
  if (stream && !enter("leaving"))
    driver.streamDestroy(stream);
}

/// The calling thread uses the device's context from here on.
Status CudaStream::enter(const char *what) {
  return driver.check(driver.setCurrent(device.context), what);
}

Status CudaStream::open() {
  RETURN_IF_ERROR(enter("opening a stream"));
  return driver.check(driver.streamCreate(&stream, kNonBlocking), "opening a stream");
}

Status CudaStream::allocate(int64_t bytes, void **memory) {
  RETURN_IF_ERROR(enter("allocating"));
  Address address = 0;
  Result code = driver.memAlloc(&address, size_t(std::max<int64_t>(bytes, 1)));
  if (code == 0) {
    *memory = reinterpret_cast<void *>(address);
    return nullptr;
  }
  size_t free = 0, total = 0;
  driver.memGetInfo(&free, &total);
  return fail(code == kOutOfMemory ? DLC_OUT_OF_MEMORY : DLC_DEVICE,
              "%s: %s: asked for %lld bytes, %zu of %zu are free (%s)", device.programName.c_str(),
              device.name().c_str(), (long long)bytes, free, total, driver.errorText(code).c_str());
}

Status CudaStream::allocateHost(int64_t bytes, void **memory) {
  RETURN_IF_ERROR(enter("allocating"));
  return driver.check(driver.memHostAlloc(memory, size_t(std::max<int64_t>(bytes, 1)), 0),
                      "allocating pinned memory");
}

void CudaStream::release(void *memory) {
  if (!memory || enter("releasing"))
    return;
  driver.streamSynchronize(stream);
  driver.memFree(toAddress(memory));
}

void CudaStream::releaseHost(void *memory) {
  if (!memory || enter("releasing"))
    return;
  driver.streamSynchronize(stream);
  driver.memFreeHost(memory);
}

Status CudaStream::upload(void *to, const void *from, int64_t bytes) {
  if (bytes == 0)
    return nullptr;
  return driver.check(driver.copyHostToDevice(toAddress(to), from, size_t(bytes), stream),
                      "copying to the device");
}

Status CudaStream::download(void *to, const void *from, int64_t bytes) {
  if (bytes == 0)
    return nullptr;
  return driver.check(driver.copyDeviceToHost(to, toAddress(from), size_t(bytes), stream),
                      "copying from the device");
}

Status CudaStream::copy(void *to, const void *from, int64_t bytes) {
  if (bytes == 0 || to == from)
    return nullptr;
  return driver.check(
      driver.copyDeviceToDevice(toAddress(to), toAddress(from), size_t(bytes), stream),
      "copying on the device");
}

Status CudaStream::evaluate(const schema::Expr &expr, const int64_t *dims, size_t numDims,
                            int64_t &result) {
  if (allBound.size() < numDims)
    allBound.resize(numDims, 1);
  bool overflow = false;
  schema::evaluateExpr(expr, dims, allBound.data(), result, overflow);
  if (overflow || result < 0)
    return fail(DLC_USAGE, "%s: a size of a launch overflows", device.programName.c_str());
  return nullptr;
}

int64_t CudaStream::workspaceBytes(uint32_t index, const int64_t *dims, size_t numDims) {
  int64_t total = 0;
  const auto *list = device.kernels[index].table->temporaries();
  for (uint32_t i = 0; list && i < list->size(); ++i) {
    int64_t bytes = 0;
    if (evaluate(*list->Get(i), dims, numDims, bytes) || bytes > (int64_t(1) << 56))
      return int64_t(1) << 56; // more than any device has: allocating says so
    total += (bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment;
  }
  return total;
}

Status CudaStream::launch(uint32_t index, void *const *operands, size_t numOperands,
                          const int64_t *dims, size_t numDims, void *workspace) {
  const DeviceKernel &kernel = device.kernels[index];
  values.clear();
  for (size_t i = 0; i < numOperands; ++i)
    values.push_back(toAddress(operands[i]));
  auto at = static_cast<char *>(workspace);
  const auto *temporaries = kernel.table->temporaries();
  for (uint32_t i = 0; temporaries && i < temporaries->size(); ++i) {
    int64_t bytes = 0;
    RETURN_IF_ERROR(evaluate(*temporaries->Get(i), dims, numDims, bytes));
    values.push_back(toAddress(at));
    at += (bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment;
  }
  for (size_t i = 0; i < numDims; ++i)
    values.push_back(uint64_t(dims[i]));
  for (const DeviceKernel::Launch &launch : kernel.launches) {
    int64_t work = 0;
    RETURN_IF_ERROR(evaluate(*launch.table->work(), dims, numDims, work));
    int64_t perBlock = int64_t(launch.table->per_block());
    int64_t blocks = work / perBlock + (work % perBlock != 0);
    blocks = std::clamp<int64_t>(blocks, 1, launch.table->max_blocks());
    arguments.clear();
    for (uint32_t argument : *launch.table->args()) {
      if (argument >= values.size())
        return fail(DLC_USAGE, "%s: broken artifact: kernel %s has no argument %u",
                    device.programName.c_str(), kernel.name.c_str(), argument);
      arguments.push_back(&values[argument]);
    }
    bool isNarrow = launch.narrow && schema::isNarrow(*launch.table, dims, allBound.data());
    Result code = driver.launchKernel(isNarrow ? launch.narrow : launch.function, unsigned(blocks), 1, 1,
                                      launch.table->threads(), 1, 1, launch.table->shared_bytes(),
                                      stream, arguments.data(), nullptr);
    if (code != 0)
      return fail(DLC_DEVICE, "%s: kernel %s: %s", device.programName.c_str(),
                  launch.table->function()->c_str(), driver.errorText(code).c_str());
  }
  return nullptr;
}

Status CudaStream::synchronize() {
  return driver.check(driver.streamSynchronize(stream), device.programName.c_str());
}

Status CudaStream::beginCapture() {
  RETURN_IF_ERROR(enter("recording a graph"));
  return driver.check(driver.beginCapture(stream, kThreadLocalCapture), "recording a graph");
}

Status CudaStream::endCapture(std::unique_ptr<DeviceGraph> *graph) {
  Graph recorded = nullptr;
  RETURN_IF_ERROR(driver.check(driver.endCapture(stream, &recorded), "recording a graph"));
  GraphExec exec = nullptr;
  Result code = driver.graphInstantiate(&exec, recorded, 0);
  driver.graphDestroy(recorded);
  RETURN_IF_ERROR(driver.check(code, "making a graph"));
  *graph = std::make_unique<CudaGraph>(driver, exec);
  return nullptr;
}

Status CudaStream::run(DeviceGraph &graph) {
  RETURN_IF_ERROR(enter("starting a graph"));
  return driver.check(driver.graphLaunch(static_cast<CudaGraph &>(graph).exec, stream),
                      "starting a graph");
}

} // namespace dlc::rt::cuda
