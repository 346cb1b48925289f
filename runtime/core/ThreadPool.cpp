#include "runtime/core/ThreadPool.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::rt {

namespace {

/// About 0.3 ms of spinning before a worker sleeps.
constexpr int kSpins = 20000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void futexWait(std::atomic<uint32_t> *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void futexWakeAll(std::atomic<uint32_t> *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

/// Cores that the cgroup's quota allows, or INT_MAX.
int cgroupCores() {
  long long quota = -1, period = 100000;
  if (FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r")) {
    if (fscanf(file, "%lld %lld", &quota, &period) != 2)
      quota = -1;
    fclose(file);
  } else {
    for (auto [path, value] :
         {std::pair{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota},
          std::pair{"/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period}})
      if (FILE *v1 = fopen(path, "r")) {
        if (fscanf(v1, "%lld", value) != 1)
          quota = -1;
        fclose(v1);
      }
  }
  if (quota <= 0 || period <= 0)
    return INT_MAX;
  return int(std::max<long long>(1, (quota + period - 1) / period));
}

} // namespace

int availableThreads() {
  cpu_set_t mask;
  int cores = 1;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
    cores = CPU_COUNT(&mask);
  return std::clamp(std::min(cores, cgroupCores()), 1, 250);
}

ThreadPool::ThreadPool(int threads) {
  // Not std::thread: a process at its limit of threads runs with fewer, and no throw.
  auto work = [](void *pool) -> void * {
    static_cast<ThreadPool *>(pool)->workerLoop();
    return nullptr;
  };
  for (int i = 1; i < std::min(threads, 250); ++i) {
    pthread_t worker;
    if (pthread_create(&worker, nullptr, work, this) != 0)
      break;
    workers.push_back(worker);
  }
}

ThreadPool::~ThreadPool() {
  stopping = true;
  state.fetch_add(kEpoch);
  futexWakeAll(&state);
  for (pthread_t worker : workers)
    pthread_join(worker, nullptr);
}

void ThreadPool::drain() {
  for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
    function(argument, i);
}

void ThreadPool::workerLoop() {
  uint32_t seen = 0;
  for (;;) {
    uint32_t value;
    int spins = 0;
    auto idle = [&] {
      value = state.load(std::memory_order_acquire);
      return (value / kEpoch == seen || !(value & kOpen)) && !stopping;
    };
    while (idle()) {
      if (++spins < kSpins) {
        pause();
        continue;
      }
      sleepers.fetch_add(1);
      if (idle())
        futexWait(&state, value);
      sleepers.fetch_sub(1);
      spins = 0;
    }
    if (stopping)
      return;
    if (!state.compare_exchange_weak(value, value + 1, std::memory_order_acq_rel))
      continue;
    seen = value / kEpoch;
    drain();
    state.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::parallelFor(int64_t total, Function f, void *a) {
  std::unique_lock<std::mutex> lock(owner, std::defer_lock);
  if (workers.empty() || total < 2 || !lock.try_lock()) {
    for (int64_t i = 0; i < total; ++i)
      f(a, i);
    return;
  }
  function = f;
  argument = a;
  count = total;
  next.store(0, std::memory_order_relaxed);
  uint32_t epoch = state.load(std::memory_order_relaxed) / kEpoch + 1;
  state.store(epoch * kEpoch | kOpen, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst))
    futexWakeAll(&state);
  drain();
  // Closed: nobody joins any more; wait for those who did.
  state.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0; state.load(std::memory_order_acquire) & kCount; ++spins)
    spins < 4000 ? pause() : (void)sched_yield();
}

} // namespace dlc::rt
