// A run on a device. Where the host decides nothing in the middle of it, the whole
// run, transfers included, is recorded once per set of sizes and started as one.

#include "runtime/core/Executor.h"

#include <algorithm>
#include <cstring>

namespace dlc::rt {

using schema::Action;
using schema::Storage;

namespace {

constexpr size_t kKeptRecordings = 16;

} // namespace

void RunContext::openStream() {
  streamError = device->createStream(&stream);
  if (streamError)
    return;
  for (Block *block : {&arena, &symbolicArena, &workspace})
    block->stream = stream.get();
  for (Block &block : blocks)
    block.stream = stream.get();
  staging.resize(entry.table().inputs->size() + entry.table().outputs->size());
  for (Block &block : staging) {
    block.stream = stream.get();
    block.isPinned = true;
  }
  canRecord = std::all_of(
      entry.instructions.begin(), entry.instructions.end(), [&](const Instruction &instruction) {
        bool isDeviceWork = instruction.kind == Action::Dispatch || instruction.kind == Action::Copy;
        return instruction.control == Control::None &&
               (isDeviceWork || isOnHost(instruction.operands[0]));
      });
}

/// Inputs and constants are on the host too.
bool RunContext::isOnHost(uint32_t value) const {
  while (entry.value(value).storage() == Storage::Alias)
    value = entry.value(value).alias();
  Storage storage = entry.value(value).storage();
  return storage == Storage::Input || storage == Storage::Constant;
}

Status RunContext::hostBytes(uint32_t value, const void **data) {
  *data = pointers[value];
  if (!stream)
    return nullptr;
  uint32_t root = value;
  while (entry.value(root).storage() == Storage::Alias)
    root = entry.value(root).alias();
  if (entry.value(root).storage() == Storage::Constant) {
    *data = entry.program.constantData(entry.value(root).constant());
    return nullptr;
  }
  if (entry.value(root).storage() == Storage::Input) {
    const auto &inputs = *entry.table().inputs;
    for (uint32_t i = 0; i < inputs.size(); ++i)
      if (inputs.Get(i) == root)
        *data = inputTensors[i]->data;
    return nullptr;
  }
  hostCopy.resize(std::max<int64_t>(bytes[value], 1));
  RETURN_IF_ERROR(stream->download(hostCopy.data(), pointers[value], bytes[value]));
  RETURN_IF_ERROR(stream->synchronize());
  *data = hostCopy.data();
  return nullptr;
}

Status RunContext::moveInputs(bool isStaged) {
  const auto &inputs = *entry.table().inputs;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const void *from = isStaged ? staging[i].data : inputTensors[i]->data;
    RETURN_IF_ERROR(stream->upload(pointers[inputs.Get(i)], from, bytes[inputs.Get(i)]));
  }
  return nullptr;
}

/// To the staging buffers: the caller's tensors may be anything.
Status RunContext::moveOutputs() {
  const auto &outputs = *entry.table().outputs;
  Block *to = staging.data() + entry.table().inputs->size();
  for (uint32_t i = 0; i < outputs.size(); ++i)
    RETURN_IF_ERROR(stream->download(to[i].data, pointers[outputs.Get(i)], bytes[outputs.Get(i)]));
  return nullptr;
}

/// Memory that recorded work needs is there before recording begins.
Status RunContext::growWorkspace() {
  for (const Instruction &instruction : entry.instructions) {
    if (instruction.kind != Action::Dispatch)
      continue;
    for (size_t i = 0; i < instruction.dims.size(); ++i) {
      RETURN_IF_ERROR(requireKnown(instruction.dims[i]));
      callDims[i] = sizes[instruction.dims[i]];
    }
    RETURN_IF_ERROR(grow(workspace,
                         stream->workspaceBytes(instruction.kernel, callDims.data(),
                                                instruction.dims.size()),
                         "temporaries of a kernel need"));
  }
  return nullptr;
}

Status RunContext::runHostInstructions() {
  for (const Instruction &instruction : entry.instructions)
    if (instruction.kind == Action::BindSymbol)
      RETURN_IF_ERROR(bindFromData(instruction));
    else if (instruction.kind == Action::CheckIndices)
      RETURN_IF_ERROR(checkIndices(instruction));
  return nullptr;
}

Status RunContext::queueDeviceWork() {
  RETURN_IF_ERROR(moveInputs(/*isStaged=*/true));
  for (const Instruction &instruction : entry.instructions)
    if (instruction.kind == Action::Dispatch)
      RETURN_IF_ERROR(dispatch(instruction));
    else if (instruction.kind == Action::Copy)
      RETURN_IF_ERROR(copy(instruction));
  return moveOutputs();
}

Status RunContext::recordDeviceWork() {
  std::unique_ptr<DeviceGraph> graph;
  RETURN_IF_ERROR(stream->beginCapture());
  Status queued = queueDeviceWork();
  Status ended = stream->endCapture(&graph); // also after an error: capturing must stop
  if (queued)
    return queued;
  RETURN_IF_ERROR(std::move(ended));
  if (recorded.size() == kKeptRecordings)
    recorded.erase(recorded.begin());
  recorded.push_back({symbols, std::move(graph)});
  return nullptr;
}

Status RunContext::runOnDevice(const dlc_run_options &options) {
  const auto &inputs = *entry.table().inputs, &outputs = *entry.table().outputs;
  if (canRecord && !options.profile) {
    RETURN_IF_ERROR(runHostInstructions());
    RETURN_IF_ERROR(requireOutputs());
    RETURN_IF_ERROR(growWorkspace());
  }
  for (uint32_t i = 0; i < inputs.size(); ++i)
    RETURN_IF_ERROR(grow(staging[i], bytes[inputs.Get(i)], "an input of"));
  if (!canRecord || options.profile) {
    RETURN_IF_ERROR(moveInputs(/*isStaged=*/false));
    RETURN_IF_ERROR(runInstructions(options));
    RETURN_IF_ERROR(requireOutputs());
  }
  for (uint32_t i = 0; i < outputs.size(); ++i)
    RETURN_IF_ERROR(grow(staging[inputs.size() + i], bytes[outputs.Get(i)], "an output of"));
  if (!canRecord || options.profile) {
    RETURN_IF_ERROR(moveOutputs());
  } else {
    for (uint32_t i = 0; i < inputs.size(); ++i)
      if (bytes[inputs.Get(i)] > 0)
        memcpy(staging[i].data, inputTensors[i]->data, bytes[inputs.Get(i)]);
    auto isThis = [&](const Recorded &known) { return known.symbols == symbols; };
    if (std::none_of(recorded.begin(), recorded.end(), isThis))
      RETURN_IF_ERROR(recordDeviceWork());
    RETURN_IF_ERROR(stream->run(*std::find_if(recorded.begin(), recorded.end(), isThis)->graph));
  }
  return finishOutputs();
}

/// Waits, and hands the caller what the staging buffers hold.
Status RunContext::finishOutputs() {
  RETURN_IF_ERROR(stream->synchronize());
  const auto &outputs = *entry.table().outputs;
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (bytes[outputs.Get(i)] > 0)
      memcpy(outputTensors[i]->data, staging[entry.table().inputs->size() + i].data,
             bytes[outputs.Get(i)]);
  return nullptr;
}

} // namespace dlc::rt
