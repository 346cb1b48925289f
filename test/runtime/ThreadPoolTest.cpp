#include "runtime/core/ThreadPool.h"

#include <gtest/gtest.h>

#include <thread>

using dlc::rt::ThreadPool;

namespace {

struct Visits {
  explicit Visits(size_t n) : counts(n) {}
  std::vector<std::atomic<int>> counts;
  static void visit(void *self, int64_t i) { ++static_cast<Visits *>(self)->counts[i]; }
  bool each(int times) const {
    for (const auto &count : counts)
      if (count != times)
        return false;
    return true;
  }
};

TEST(ThreadPool, EveryIndexOnce) {
  for (int threads : {1, 2, 5})
    for (int64_t count : {0, 1, 2, 3, 1000}) {
      ThreadPool pool(threads);
      Visits visits(count);
      pool.parallelFor(count, Visits::visit, &visits);
      EXPECT_TRUE(visits.each(1)) << threads << " threads, " << count;
    }
}

TEST(ThreadPool, ManyRegionsWithSleepsBetween) {
  ThreadPool pool(3);
  Visits visits(17);
  for (int i = 0; i < 2000; ++i) {
    pool.parallelFor(17, Visits::visit, &visits);
    if (i % 500 == 0) // long enough for the workers to sleep
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(visits.each(2000));
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        Visits visits(9);
        pool.parallelFor(9, Visits::visit, &visits);
        wrong += !visits.each(1);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, NestedFromAWorker) {
  static ThreadPool pool(3);
  static std::atomic<int> total;
  total = 0;
  auto inner = [](void *, int64_t) { ++total; };
  static void (*innerFunction)(void *, int64_t) = inner;
  pool.parallelFor(8, [](void *, int64_t) {
    std::thread([] { pool.parallelFor(4, innerFunction, nullptr); }).join();
  }, nullptr);
  EXPECT_EQ(total, 32);
}

TEST(ThreadPool, MakesAndEndsQuickly) {
  for (int i = 0; i < 50; ++i)
    ThreadPool pool(4);
  EXPECT_GE(dlc::rt::availableThreads(), 1);
}

} // namespace
