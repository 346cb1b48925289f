#include "runtime/cudasim/machine/Block.h"

#include <algorithm>
#include <random>

namespace dlc::sim {

namespace {

// A warp that spins on what another will write must not keep the core.
constexpr uint64_t kSlice = 200000;

std::string triple(uint32_t x, uint32_t y, uint32_t z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

} // namespace

Block::Block(Launch &launch) : launch(launch) {
  uint64_t count = (launch.block.count() + kLanes - 1) / kLanes;
  for (uint64_t i = 0; i < count; ++i)
    warps.push_back(std::make_unique<Warp>());
}

void Block::fillSpecials(const Warp &warp, uint32_t *specials) const {
  const Dim3 &size = launch.block, &grid = launch.grid;
  auto set = [&](Special which, unsigned lane, uint32_t value) {
    specials[which * kLanes + lane] = value;
  };
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t thread = warp.index * kLanes + lane, bit = uint32_t(1) << lane;
    const uint32_t values[NumSpecials] = {
        thread % size.x, thread / size.x % size.y, thread / size.x / size.y,
        size.x, size.y, size.z, ctaid[0], ctaid[1], ctaid[2], grid.x, grid.y, grid.z,
        lane, warp.index, uint32_t(warps.size()), 0, 1, 0, bit, bit | (bit - 1), bit - 1,
        ~(bit - 1), ~(bit | (bit - 1)), launch.dynamicShared,
        launch.dynamicShared + launch.entry->sharedBytes, 0};
    for (unsigned i = 0; i < NumSpecials; ++i)
      set(Special(i), lane, values[i]);
  }
}

std::string Block::where(const Place &place) const {
  std::string text;
  if (place.source.line > 0) {
    auto file = program().files.find(place.source.file);
    text = (file == program().files.end() ? "?" : file->second) + ":" + std::to_string(place.source.line) + ", ";
  }
  return text + "PTX line " + std::to_string(place.ptxLine);
}

std::string Block::threadName(unsigned thread) const {
  const Dim3 &size = launch.block;
  return triple(thread % size.x, thread / size.x % size.y, thread / size.x / size.y);
}

std::string Block::describe(const Warp &warp, const Place &place, int lane, const std::string &text) const {
  std::string result = text + "\n    in kernel " + launch.entry->name;
  if (warp.function().name != launch.entry->name)
    result += ", function " + warp.function().name;
  result += " (" + where(place) + ")\n    by thread ";
  return result + threadName(warp.index * kLanes + unsigned(lane < 0 ? 0 : lane)) + " of block " +
         triple(ctaid[0], ctaid[1], ctaid[2]);
}

void Block::finding(const std::string &text) {
  if (launch.options.failsOnFindings)
    throw Fault{kLaunchFailed, text};
  std::lock_guard<std::mutex> lock(launch.mutex);
  constexpr size_t most = 20;
  if (launch.findings.size() < most)
    launch.findings.push_back(text);
}

void Block::run(uint64_t number) {
  const Dim3 &grid = launch.grid;
  ctaid[0] = uint32_t(number % grid.x);
  ctaid[1] = uint32_t(number / grid.x % grid.y);
  ctaid[2] = uint32_t(number / grid.x / grid.y);
  shared.reset(launch.entry->sharedBytes + launch.dynamicShared);
  epoch = 1;
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  uint32_t threads = numThreads();
  for (uint32_t i = 0; i < warps.size(); ++i) {
    uint32_t lanes = std::min(kLanes, threads - i * kLanes);
    warps[i]->start(*this, *launch.entry, i, lanes == kLanes ? kAllLanes : (1u << lanes) - 1);
  }
  std::mt19937_64 random(launch.options.seed * 7919 + number);
  bool isAdverse = launch.options.seed != 0;
  std::vector<Warp *> order;
  for (auto &warp : warps)
    order.push_back(warp.get());
  uint64_t slices = launch.options.mostInstructions / kSlice + 1;
  for (bool isAlive = true; isAlive;) {
    bool hasRun = false;
    isAlive = false;
    if (isAdverse)
      std::shuffle(order.begin(), order.end(), random);
    for (Warp *warp : order) {
      isAlive |= warp->state != WarpState::Done;
      if (warp->state != WarpState::Ready)
        continue;
      hasRun = true;
      if (launch.isStopped.load(std::memory_order_relaxed))
        return;
      warp->run(isAdverse ? 1 + random() % 300 : kSlice);
      if (!isAdverse && warp->state == WarpState::Ready && --slices == 0)
        throw Fault{kLaunchTimeout, "kernel " + launch.entry->name + " does not end"};
      if (warp->state == WarpState::AtBarrier)
        arrive(*warp);
    }
    if (isAlive && !hasRun)
      deadlock();
  }
  uint64_t executed = 0;
  for (auto &warp : warps)
    executed += warp->executed;
  launch.executed += executed;
}

void Block::arrive(Warp &warp) {
  const BarrierWait &wait = warp.waiting;
  Barrier &barrier = barriers[wait.id];
  uint32_t expected = wait.expected ? wait.expected : uint32_t(warps.size()) * kLanes;
  barrier.expected = expected;
  // The hardware counts whole warps.
  barrier.threads += kLanes;
  barrier.waiting.push_back(&warp);
  if (barrier.threads >= expected)
    open(barrier);
}

void Block::open(Barrier &barrier) {
  uint32_t total = 0, threads = 0;
  for (Warp *warp : barrier.waiting) {
    total += unsigned(__builtin_popcount(warp->waiting.predicate));
    threads += unsigned(__builtin_popcount(warp->live()));
  }
  for (Warp *warp : barrier.waiting) {
    const BarrierWait &wait = warp->waiting;
    if (wait.reduction == 0)
      std::fill_n(warp->out<uint32_t>(wait.result), kLanes, total);
    else if (wait.reduction > 0)
      *warp->out<uint32_t>(wait.result) = (wait.reduction == 1 ? total == threads : total > 0) ? kAllLanes : 0;
    warp->release();
  }
  barrier = Barrier();
  ++epoch;
}

/// Some wait at barriers and nobody is left to come.
void Block::deadlock() {
  std::string text = "divergent barrier: not all threads of the block come to it:";
  const Warp *first = nullptr;
  unsigned done = 0;
  for (auto &warp : warps) {
    if (warp->state == WarpState::Done)
      ++done;
    else if (!first)
      first = warp.get();
  }
  for (unsigned id = 0; id < 16; ++id)
    if (!barriers[id].waiting.empty())
      text += " " + std::to_string(barriers[id].waiting.size()) + " warps wait at barrier " + std::to_string(id) + ",";
  text += " " + std::to_string(done) + " warps have exited";
  throw Fault{kLaunchFailed, describe(*first, first->waitingAt, 0, text)};
}

} // namespace dlc::sim
