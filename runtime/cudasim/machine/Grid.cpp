// The blocks of a launch, spread over the cores.

#include "runtime/cudasim/machine/Block.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

namespace dlc::sim {

namespace {

void work(Launch &launch, std::atomic<uint64_t> &next, const std::vector<uint32_t> &order) {
  try {
    Block block(launch);
    uint64_t count = launch.grid.count();
    for (uint64_t i; !launch.isStopped && (i = next++) < count;)
      block.run(order.empty() ? i : order[i]);
  } catch (const Fault &fault) {
    std::lock_guard<std::mutex> lock(launch.mutex);
    if (launch.fault.code == 0)
      launch.fault = fault;
    launch.isStopped = true;
  } catch (const std::bad_alloc &) {
    std::lock_guard<std::mutex> lock(launch.mutex);
    launch.fault = {kOutOfMemory, "out of host memory"};
    launch.isStopped = true;
  }
}

} // namespace

void runGrid(Launch &launch) {
  uint64_t count = launch.grid.count();
  std::vector<uint32_t> order;
  if (launch.options.seed != 0 && count < (1u << 24)) {
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(launch.options.seed + launch.id));
  }
  unsigned cores = launch.options.cores ? launch.options.cores : std::max(1u, std::thread::hardware_concurrency());
  // The same sum every time needs the same order every time.
  if (launch.entry->isOrderSensitive || launch.observer)
    cores = 1;
  cores = unsigned(std::min<uint64_t>(cores, count));
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < cores; ++i)
    helpers.emplace_back([&] { work(launch, next, order); });
  work(launch, next, order);
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace dlc::sim
