// Modules, functions and their attributes, launches.

#include "runtime/cudasim/driver/State.h"

#include <cstring>

using namespace dlc::sim;

namespace {

class ModuleMemory : public GlobalAllocator {
public:
  explicit ModuleMemory(DeviceMemory &memory) : memory(memory) {}
  uint64_t allocate(const ptx::Variable &variable) override {
    uint64_t address = memory.allocate(std::max<uint64_t>(variable.sizeBytes(), 1), true);
    if (address == 0)
      throw std::bad_alloc();
    return address;
  }
  void write(uint64_t address, const void *data, uint64_t bytes) override {
    memcpy(reinterpret_cast<void *>(address), data, bytes);
    memory.markWritten(address, bytes);
  }

private:
  DeviceMemory &memory;
};

constexpr uint32_t kMostShared = 227 << 10, kMostThreads = 1024;

CUresult checkShape(State &state, const CUfunc_st &function, const Dim3 &grid, const Dim3 &block, unsigned shared) {
  const Code &code = *function.code;
  std::string wrong;
  if (grid.count() == 0 || block.count() == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || block.z > 64)
    wrong = "a grid or block of a size that no device has";
  else if (block.count() > kMostThreads)
    wrong = std::to_string(block.count()) + " threads in a block";
  else if (code.maxThreads && block.count() > code.maxThreads)
    wrong = std::to_string(block.count()) + " threads where the kernel is compiled for " + std::to_string(code.maxThreads);
  else if (code.requiredThreads[0] && (block.x != code.requiredThreads[0] || block.y != code.requiredThreads[1] || block.z != code.requiredThreads[2]))
    wrong = "a block of another size than the kernel requires";
  else if (int64_t(shared) > function.maxDynamicShared)
    wrong = std::to_string(shared) + " bytes of dynamic shared memory, where " + std::to_string(function.maxDynamicShared) + " are allowed";
  else if (code.sharedBytes + shared > kMostShared)
    wrong = std::to_string(code.sharedBytes + shared) + " bytes of shared memory";
  if (wrong.empty())
    return CUDA_SUCCESS;
  state.say("cudasim: launch of kernel " + code.name + " with " + wrong);
  return CUDA_ERROR_INVALID_VALUE;
}

/// A launch's arguments as the kernel sees them: one buffer.
CUresult gather(const Code &code, void **params, void **extra, std::vector<char> &buffer) {
  uint32_t bytes = 0;
  for (const LocalVariable &param : code.params)
    bytes = param.offset + param.bytes;
  buffer.assign(bytes, 0);
  if (extra) {
    const void *data = nullptr;
    size_t size = 0;
    for (size_t i = 0; extra[i]; i += 2) {
      if (extra[i] == reinterpret_cast<void *>(1))
        data = extra[i + 1];
      else if (extra[i] == reinterpret_cast<void *>(2))
        size = *static_cast<size_t *>(extra[i + 1]);
      else
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!data || size < bytes)
      return CUDA_ERROR_INVALID_VALUE;
    memcpy(buffer.data(), data, bytes);
    return CUDA_SUCCESS;
  }
  if (!code.params.empty() && !params)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < code.params.size(); ++i) {
    if (!params[i])
      return CUDA_ERROR_INVALID_VALUE;
    memcpy(&buffer[code.params[i].offset], params[i], code.params[i].bytes);
  }
  return CUDA_SUCCESS;
}

struct Request {
  CUfunction function;
  Dim3 grid, block;
  unsigned shared;
  std::vector<char> params;
};

CUresult runKernel(State &state, const Request &request) {
  Launch launch;
  launch.program = request.function->module->program.get();
  launch.entry = request.function->code;
  launch.grid = request.grid;
  launch.block = request.block;
  launch.dynamicShared = request.shared;
  launch.params = request.params;
  launch.memory = state.memory.get();
  launch.options = state.options;
  launch.id = ++state.numLaunches;
  if (state.order.isActive()) {
    state.order.setName("kernel " + request.function->code->name);
    launch.observer = &state.order;
  }
  runGrid(launch);
  if (!launch.printed.empty()) {
    fputs(launch.printed.c_str(), stdout);
    fflush(stdout);
  }
  for (const std::string &finding : launch.findings)
    state.say("cudasim: " + finding);
  if (launch.fault.code)
    state.say("cudasim: " + launch.fault.text);
  return launch.fault.code;
}

} // namespace

DLC_SIM_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, int *, void **) {
  DLC_SIM_ENTER();
  auto text = static_cast<const char *>(image);
  if (!text || memcmp(text, "\x7f" "ELF", 4) == 0 || *text == '\x50') {
    state.say("cudasim: the image is machine code; the simulator reads PTX");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  try {
    auto loaded = std::make_unique<CUmod_st>();
    auto parsed = ptx::parse(text);
    ModuleMemory memory(*state.memory);
    loaded->program = decode(*parsed, memory);
    *module = loaded.release();
    state.modules.insert(*module);
    return CUDA_SUCCESS;
  } catch (const ptx::Error &error) {
    state.say(std::string("cudasim: ") + error.what());
    return CUDA_ERROR_INVALID_PTX;
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}
DLC_SIM_API cuModuleLoadData(CUmodule *module, const void *image) { return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr); }
DLC_SIM_API cuModuleUnload(CUmodule module) {
  DLC_SIM_ENTER();
  if (!state.modules.count(module))
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult code = state.synchronizeAll();
  for (auto &[name, global] : module->program->globals)
    state.release(global.address);
  state.modules.erase(module);
  delete module;
  return code;
}
DLC_SIM_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  DLC_SIM_ENTER();
  if (!state.modules.count(module))
    return CUDA_ERROR_INVALID_HANDLE;
  const Code *code = module->program->find(name);
  if (!code || !code->isEntry)
    return CUDA_ERROR_NOT_FOUND;
  for (auto &known : module->functions)
    if (known->code == code) {
      *function = known.get();
      return CUDA_SUCCESS;
    }
  module->functions.push_back(std::make_unique<CUfunc_st>());
  *function = module->functions.back().get();
  (*function)->module = module;
  (*function)->code = code;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
  DLC_SIM_ENTER();
  if (!state.modules.count(module))
    return CUDA_ERROR_INVALID_HANDLE;
  auto found = module->program->globals.find(name);
  if (found == module->program->globals.end())
    return CUDA_ERROR_NOT_FOUND;
  if (pointer)
    *pointer = found->second.address;
  if (bytes)
    *bytes = found->second.bytes;
  return CUDA_SUCCESS;
}

DLC_SIM_API cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  DLC_SIM_ENTER();
  const Code &code = *function->code;
  switch (attribute) {
  case 0: *value = int(code.maxThreads ? code.maxThreads : kMostThreads); break;
  case 1: *value = int(code.sharedBytes); break;
  case 2: *value = 0; break;
  case 3: *value = int(code.localBytes); break;
  case 4: *value = int(code.registersPerThread); break;
  case 5: case 6: *value = 90; break;
  case 7: *value = 0; break;
  case 8: *value = function->maxDynamicShared; break;
  case 9: *value = function->carveout; break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
DLC_SIM_API cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  DLC_SIM_ENTER();
  if (attribute == 8 && value >= 0 && uint32_t(value) + function->code->sharedBytes <= kMostShared)
    function->maxDynamicShared = value;
  else if (attribute == 9)
    function->carveout = value;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int blockSize, size_t dynamicShared) {
  DLC_SIM_ENTER();
  if (blockSize <= 0 || unsigned(blockSize) > kMostThreads)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned warps = (unsigned(blockSize) + kLanes - 1) / kLanes;
  unsigned registers = (function->code->registersPerThread + 7) / 8 * 8 * kLanes * warps;
  uint64_t shared = function->code->sharedBytes + dynamicShared + 1024;
  unsigned most = std::min(32u, 64 / warps);
  most = std::min(most, registers ? 65536 / registers : most);
  *blocks = int(std::min<uint64_t>(most, (228 << 10) / shared));
  return CUDA_SUCCESS;
}

DLC_SIM_API cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                           unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                           CUstream stream, void **params, void **extra) {
  DLC_SIM_ENTER();
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  Request request{function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, {}};
  if (CUresult code = checkShape(state, *function, request.grid, request.block, shared))
    return code;
  if (CUresult code = gather(*function->code, params, extra, request.params))
    return code;
  return state.enqueue(stream, [request = std::move(request), &state] { return runKernel(state, request); });
}

/// CUlaunchConfig as cuda.h has it.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, shared;
  CUstream stream;
  void *attributes;
  unsigned numAttributes;
};
DLC_SIM_API cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **params, void **extra) {
  if (config->numAttributes != 0) {
    ApiCall call;
    call.state.say("cudasim: launch attributes (clusters, cooperative launches) are not simulated");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return cuLaunchKernel(function, config->gridX, config->gridY, config->gridZ, config->blockX, config->blockY,
                        config->blockZ, config->shared, config->stream, params, extra);
}
