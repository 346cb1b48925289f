#include "runtime/cudasim/driver/State.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dlc::sim {

namespace {

uint64_t numberOf(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoull(text, nullptr, 10) : otherwise;
}

} // namespace

State &State::get() {
  // Never destroyed: programs release what they have while they end.
  static State *state = new State;
  return *state;
}

CUcontext &currentContext() {
  static thread_local CUcontext context = nullptr;
  return context;
}

CUresult State::initialize() {
  if (isInitialized)
    return CUDA_SUCCESS;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    say("cudasim: this processor lacks AVX2 or FMA, which the simulator is built for");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  constexpr uint64_t mebi = 1 << 20;
  defaultStream.number = ++numStreams;
  memory = std::make_unique<DeviceMemory>(numberOf("DLC_CUDASIM_MEMORY_MB", 16 << 10) * mebi);
  if (!memory->isValid())
    return CUDA_ERROR_OUT_OF_MEMORY;
  options.seed = numberOf("DLC_CUDASIM_SEED", 0);
  options.cores = unsigned(numberOf("DLC_CUDASIM_CORES", 0));
  const char *checks = getenv("DLC_CUDASIM_CHECKS"); // "off", "report", "fail"
  if (checks && strcmp(checks, "off") == 0)
    options.checksRaces = options.checksUninitialized = false;
  if (checks && strcmp(checks, "report") == 0)
    options.failsOnFindings = false;
  isInitialized = true;
  return CUDA_SUCCESS;
}

CUresult State::ready() {
  if (!isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!currentContext() || !contexts.count(currentContext()))
    return CUDA_ERROR_INVALID_CONTEXT;
  return sticky;
}

CUstream State::find(CUstream stream) {
  // 1 and 2 are the names of the default stream of the process and of the thread.
  if (reinterpret_cast<uintptr_t>(stream) <= 2)
    return &defaultStream;
  return streams.count(stream) ? stream : nullptr;
}

CUresult State::enqueue(CUstream stream, Work work) {
  stream = find(stream);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    stream->capture->nodes.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  // The default stream and those that do not ask to be free of it wait for each other.
  constexpr unsigned nonBlocking = 1;
  if (stream == &defaultStream) {
    for (CUstream other : streams)
      if (!(other->flags & nonBlocking) && !other->capture)
        waitFor(stream, {other, other->enqueued}, other->clock);
  } else if (!(stream->flags & nonBlocking)) {
    waitFor(stream, {&defaultStream, defaultStream.enqueued}, defaultStream.clock);
  }
  stream->clock.merge(host);
  ++stream->enqueued;
  stream->queue.push_back({std::move(work), {}, ++orders, {stream->number, stream->enqueued, stream->clock}});
  stream->clock.set(stream->number, stream->enqueued);
  // What piles up without bound is done.
  constexpr size_t most = 4096;
  return stream->queue.size() > most ? finish(stream, stream->enqueued) : CUDA_SUCCESS;
}

void State::waitFor(CUstream stream, Point point, const Clock &clock) {
  stream->clock.merge(clock);
  if (point.stream == stream || point.stream->done >= point.sequence)
    return;
  stream->queue.push_back({nullptr, point, ++orders});
  ++stream->enqueued;
}

void State::runNext(CUstream stream) {
  QueuedWork next = std::move(stream->queue.front());
  stream->queue.pop_front();
  if (next.after.stream && find(next.after.stream))
    finish(next.after.stream, next.after.sequence);
  if (next.work && sticky == CUDA_SUCCESS) {
    order.begin(options.checksRaces && isConcurrent(next.ordered) ? &next.ordered : nullptr);
    if (CUresult code = next.work())
      sticky = code;
    order.begin(nullptr);
  }
  ++stream->done;
}

/// Another stream has been asked for something that this work does not come after.
bool State::isConcurrent(const OrderedWork &work) const {
  auto isOther = [&](const CUstream_st &stream) {
    return stream.number != work.stream && stream.clock.at(stream.number) > work.clock.at(stream.number);
  };
  return isOther(defaultStream) ||
         std::any_of(streams.begin(), streams.end(), [&](CUstream stream) { return isOther(*stream); });
}

CUresult State::checkOrder(uint64_t address, uint64_t bytes, bool isWrite, const char *what) {
  if (!order.isActive())
    return CUDA_SUCCESS;
  order.setName(what);
  std::string other = order.touch(address, bytes, isWrite);
  if (other.empty())
    return CUDA_SUCCESS;
  say(std::string("cudasim: ") + what + " of " + std::to_string(bytes) + " bytes is not ordered after " + other);
  return options.failsOnFindings ? kLaunchFailed : CUDA_SUCCESS;
}

CUresult State::finish(CUstream stream, uint64_t sequence) {
  if (options.seed != 0) { // other streams as late as may be
    while (stream->done < sequence)
      runNext(stream);
    return sticky;
  }
  while (stream->done < sequence) { // as asked for
    CUstream first = stream;
    for (CUstream other : streams)
      if (!other->queue.empty() && other->queue.front().order < first->queue.front().order)
        first = other;
    if (!defaultStream.queue.empty() && defaultStream.queue.front().order < first->queue.front().order)
      first = &defaultStream;
    runNext(first);
  }
  return sticky;
}

CUresult State::finishAll() {
  finish(&defaultStream, defaultStream.enqueued);
  for (CUstream stream : std::vector<CUstream>(streams.begin(), streams.end()))
    finish(stream, stream->enqueued);
  return sticky;
}

CUresult State::synchronize(CUstream stream) {
  host.merge(stream->clock);
  return finish(stream, stream->enqueued);
}

CUresult State::synchronizeAll() {
  host.merge(defaultStream.clock);
  for (CUstream stream : streams)
    host.merge(stream->clock);
  return finishAll();
}

bool State::isPinned(const void *host, uint64_t bytes) const {
  uint64_t address = reinterpret_cast<uint64_t>(host);
  auto it = hostBlocks.upper_bound(address);
  if (it == hostBlocks.begin())
    return false;
  --it;
  return address + bytes <= it->first + it->second.bytes;
}

bool State::release(uint64_t address) {
  const Allocation *found = memory->find(address);
  if (!memory->release(address))
    return false;
  order.forget(found->address, found->bytes);
  return true;
}

void State::say(const std::string &text) {
  report += text + "\n";
  fprintf(stderr, "%s\n", text.c_str());
}

void State::reportLeaks() {
  uint64_t bytes = 0;
  std::vector<Allocation> leaks = memory->leaks();
  for (const Allocation &leak : leaks)
    bytes += leak.bytes;
  if (!leaks.empty())
    say("cudasim: leak: " + std::to_string(leaks.size()) + " allocations, " + std::to_string(bytes) +
        " bytes, the first of " + std::to_string(leaks[0].bytes) + " bytes (allocation " +
        std::to_string(leaks[0].serial) + "), were not freed when the context was destroyed");
  if (!hostBlocks.empty())
    say("cudasim: leak: " + std::to_string(hostBlocks.size()) + " blocks of pinned host memory were not freed when the context was destroyed");
}

/// The context is gone, and all that was in it.
void State::destroyAll() {
  finishAll();
  reportLeaks();
  for (CUmodule module : modules)
    delete module;
  modules.clear();
  for (CUstream stream : streams)
    delete stream;
  streams.clear();
  for (CUevent event : events)
    delete event;
  events.clear();
  for (auto &[address, block] : hostBlocks)
    if (!block.isRegistered)
      free(reinterpret_cast<void *>(address));
  hostBlocks.clear();
  uint64_t capacity = memory->capacity();
  order.forget(0, ~uint64_t(0));
  memory = std::make_unique<DeviceMemory>(capacity);
  sticky = CUDA_SUCCESS;
}

} // namespace dlc::sim

extern "C" __attribute__((visibility("default"))) const char *dlcsimGetReport() {
  dlc::sim::ApiCall call;
  static thread_local std::string copy;
  copy = call.state.report;
  return copy.c_str();
}
extern "C" __attribute__((visibility("default"))) void dlcsimClearReport() {
  dlc::sim::ApiCall call;
  call.state.report.clear();
}
