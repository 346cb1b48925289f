// A pool that the caller works in too and never waits for: a worker counts only
// once it has joined a region, so a busy machine costs nothing.

#ifndef DLC_RUNTIME_CORE_THREADPOOL_H
#define DLC_RUNTIME_CORE_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace dlc::rt {

/// Threads that this process may use: affinity mask, bounded by cgroup quota.
int availableThreads();

class ThreadPool {
public:
  /// `threads` counts the caller.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;

  using Function = void (*)(void *argument, int64_t index);

  /// Calls `function` for every index in [0, count), on several threads. When
  /// another caller has the pool, the caller does all of it.
  void parallelFor(int64_t count, Function function, void *argument);

  int threads() const { return int(workers.size()) + 1; }

private:
  // state = epoch << 9 | open << 8 | joined workers
  static constexpr uint32_t kOpen = 256, kCount = 255, kEpoch = 512;

  void workerLoop();
  void drain();

  alignas(64) std::atomic<uint32_t> state{0};
  alignas(64) std::atomic<uint32_t> sleepers{0};
  alignas(64) std::atomic<int64_t> next{0};
  std::atomic<bool> stopping{false};
  Function function = nullptr;
  void *argument = nullptr;
  int64_t count = 0;
  std::mutex owner;
  std::vector<pthread_t> workers;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_THREADPOOL_H
