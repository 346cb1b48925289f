// The pipeline itself: the same batches for any number of threads, resuming, broken
// samples, ending early.

#include "test/data/DataTest.h"

#include <chrono>
#include <map>
#include <mutex>
#include <thread>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

LoaderOptions shuffled(int workers, int readers = 0) {
  LoaderOptions options;
  options.batchSize = 16;
  options.epochs = 3;
  options.seed = 7;
  options.shuffle = Shuffle::Full;
  options.workers = workers;
  options.readers = readers;
  return options;
}

void sleepMs(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Loader, GivesEverySampleInOrder) {
  LoaderOptions options;
  options.batchSize = 4;
  std::vector<Given> batches = batchesOf(std::make_unique<Counting>(10), {}, options);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[2].indices, (std::vector<uint64_t>{8, 9}));
  EXPECT_EQ(batches[2].bytes[0].size(), 2 * 3 * sizeof(float));
  EXPECT_EQ(reinterpret_cast<const float *>(batches[1].bytes[0].data())[5], 15.0f);
  EXPECT_EQ(reinterpret_cast<const int64_t *>(batches[1].bytes[1].data())[3], 7);
}

TEST(Loader, SameBitsForAnyNumberOfThreads) {
  std::vector<Given> expected = batchesOf(std::make_unique<Counting>(201), noise(), shuffled(0));
  ASSERT_EQ(expected.size(), 3u * 13);
  for (int workers = 1; workers <= 8; ++workers)
    for (int readers : {0, 1, 3})
      for (int prefetch : {1, 4}) {
        LoaderOptions options = shuffled(workers, readers);
        options.prefetch = prefetch;
        auto dataset = std::make_unique<Counting>(201);
        dataset->onRead = [](uint64_t index) {
          if (index % 50 == 3) // some threads fall behind
            sleepMs(1);
        };
        EXPECT_EQ(batchesOf(std::move(dataset), noise(), options), expected)
            << workers << " workers, " << readers << " readers";
      }
}

TEST(Loader, ContinuesFromAnyPosition) {
  for (int workers : {0, 2}) {
    std::vector<Given> whole = batchesOf(std::make_unique<Counting>(101), noise(), shuffled(workers));
    for (size_t taken : {size_t(0), size_t(1), size_t(6), size_t(7), size_t(8), whole.size()}) {
      Loader first, second;
      ASSERT_OK(Loader::create(std::make_unique<Counting>(101), noise(), shuffled(workers), first));
      std::vector<Given> batches = drain(first, taken);
      Position position = first.position();
      ASSERT_OK(Loader::create(std::make_unique<Counting>(101), noise(), shuffled(3), second));
      ASSERT_OK(second.seek(position));
      for (Given &given : drain(second))
        batches.push_back(std::move(given));
      EXPECT_EQ(batches, whole) << "after " << taken;
    }
  }
}

TEST(Loader, SeeksBackWhileTheCallerHoldsABatch) {
  Loader loader;
  ASSERT_OK(Loader::create(std::make_unique<Counting>(101), noise(), shuffled(2), loader));
  Batch held;
  ASSERT_OK(loader.next(held));
  Given first = copyOf(held);
  ASSERT_OK(loader.seek({}));
  EXPECT_EQ(copyOf(held), first);
  EXPECT_EQ(drain(loader, 1)[0], first);
  EXPECT_EQ(copyOf(held), first);
}

TEST(Loader, RefusesAPositionOfOtherData) {
  Loader loader, other;
  ASSERT_OK(Loader::create(std::make_unique<Counting>(101), {}, shuffled(1), loader));
  ASSERT_OK(Loader::create(std::make_unique<Counting>(102), {}, shuffled(1), other));
  EXPECT_FAILS(other.seek(loader.position()), "other data");
  Position beyond = loader.position();
  beyond.batch = 7;
  EXPECT_FAILS(loader.seek(beyond), "beyond the data");
  beyond = {4, 0, 0, beyond.fingerprint};
  EXPECT_FAILS(loader.seek(beyond), "beyond the data");
}

TEST(Loader, ABrokenSampleFailsInBatchOrder) {
  for (int workers : {0, 1, 4})
    for (int readers : {0, 2}) {
      if (workers == 0 && readers > 0)
        continue;
      auto dataset = std::make_unique<Counting>(100);
      dataset->broken = {37, 35, 90};
      LoaderOptions options;
      options.batchSize = 8;
      options.workers = workers;
      options.readers = readers;
      Loader loader;
      ASSERT_OK(Loader::create(std::move(dataset), {}, options, loader));
      EXPECT_EQ(drain(loader, 4).size(), 4u); // what comes before is given
      Batch batch;
      EXPECT_FAILS(loader.next(batch), "counting: record 35: bad bytes");
      EXPECT_FALSE(batch);
      EXPECT_FAILS(loader.next(batch), "record 35");
    }
}

TEST(Loader, SkipsAndCountsBrokenSamples) {
  std::vector<Given> expected;
  for (int workers : {0, 1, 4}) {
    auto dataset = std::make_unique<Counting>(40);
    dataset->broken = {3, 8, 9, 10, 11, 12, 13, 14, 15, 39};
    LoaderOptions options;
    options.batchSize = 8;
    options.workers = workers;
    options.onBroken = OnBroken::Skip;
    Loader loader;
    ASSERT_OK(Loader::create(std::move(dataset), noise(), options, loader));
    std::vector<Given> batches = drain(loader);
    ASSERT_EQ(batches.size(), 4u); // the second has no good sample
    EXPECT_EQ(batches[0].indices, (std::vector<uint64_t>{0, 1, 2, 4, 5, 6, 7}));
    EXPECT_EQ(batches[1].number, 2u);
    EXPECT_EQ(batches[3].bytes[1].size(), 7 * sizeof(int64_t));
    EXPECT_EQ(loader.position().skipped, 10u);
    EXPECT_EQ(loader.statistics().skipped, 10u);
    EXPECT_NE(loader.statistics().lastBroken.find("bad bytes"), std::string::npos);
    if (expected.empty())
      expected = batches;
    EXPECT_EQ(batches, expected);
  }
}

TEST(Loader, ReplacesBrokenSamplesAlike) {
  std::vector<Given> expected;
  for (int workers : {0, 1, 5}) {
    auto dataset = std::make_unique<Counting>(40);
    dataset->broken = {3, 8, 9};
    LoaderOptions options = shuffled(workers, workers > 1);
    options.onBroken = OnBroken::Replace;
    std::vector<Given> batches = batchesOf(std::move(dataset), noise(), options);
    ASSERT_EQ(batches.size(), 9u);
    for (const Given &given : batches) {
      EXPECT_EQ(given.indices.size(), given.number == 2 ? 8u : 16u);
      for (uint64_t index : given.indices)
        EXPECT_TRUE(index != 3 && index != 8 && index != 9);
    }
    if (expected.empty())
      expected = batches;
    EXPECT_EQ(batches, expected);
  }
}

TEST(Loader, AllBrokenIsAFailureAndNoLoop) {
  for (OnBroken policy : {OnBroken::Skip, OnBroken::Replace}) {
    auto dataset = std::make_unique<Counting>(20);
    for (uint64_t i = 0; i < 20; ++i)
      dataset->broken.insert(i);
    LoaderOptions options = shuffled(2);
    options.epochs = 0;
    options.onBroken = policy;
    Loader loader;
    ASSERT_OK(Loader::create(std::move(dataset), {}, options, loader));
    Batch batch;
    EXPECT_FAILS(loader.next(batch), "bad bytes");
  }
}

TEST(Loader, CancelWakesTheConsumer) {
  auto dataset = std::make_unique<Counting>(1000);
  dataset->onRead = [](uint64_t index) { sleepMs(index < 32 ? 0 : 20); };
  LoaderOptions options = shuffled(2);
  options.shuffle = Shuffle::None;
  Loader loader;
  ASSERT_OK(Loader::create(std::move(dataset), {}, options, loader));
  Batch batch;
  ASSERT_OK(loader.next(batch));
  std::thread canceller([&] {
    sleepMs(30);
    loader.cancel();
  });
  Status status;
  while (!(status = loader.next(batch)))
    ;
  EXPECT_NE(messageOf(status).find("cancelled"), std::string::npos);
  canceller.join();
  ASSERT_OK(loader.seek({}));
  EXPECT_EQ(drain(loader, 2).size(), 2u);
}

TEST(Loader, EndsWhileWorkIsOnItsWay) {
  for (int readers : {0, 2})
    for (int i = 0; i < 30; ++i) {
      Loader loader;
      ASSERT_OK(Loader::create(std::make_unique<Counting>(1000), noise(), shuffled(3, readers), loader));
      drain(loader, i % 4);
    }
}

TEST(Loader, ABatchOutlivesItsLoader) {
  Batch batch;
  {
    Loader loader;
    ASSERT_OK(Loader::create(std::make_unique<Counting>(100), {}, shuffled(2), loader));
    ASSERT_OK(loader.next(batch));
  }
  EXPECT_EQ(copyOf(batch).indices.size(), 16u);
}

TEST(Loader, HoldingEveryBatchIsAnErrorAndNoDeadlock) {
  for (int workers : {0, 2}) {
    LoaderOptions options = shuffled(workers);
    options.prefetch = 2;
    Loader loader;
    ASSERT_OK(Loader::create(std::make_unique<Counting>(100), {}, options, loader));
    Batch batches[4];
    for (int i = 0; i < 3; ++i)
      ASSERT_OK(loader.next(batches[i]));
    EXPECT_FAILS(loader.next(batches[3]), "holds all 3");
    batches[1] = Batch();
    ASSERT_OK(loader.next(batches[3]));
    EXPECT_EQ(batches[3].number(), 3u);
  }
}

TEST(Loader, TransfersInOrder) {
  for (int workers : {0, 4}) {
    std::vector<uint64_t> seen;
    std::mutex mutex;
    LoaderOptions options = shuffled(workers);
    options.transfer = [&](Batch &batch) {
      std::lock_guard lock(mutex);
      seen.push_back(batch.epoch() * 100 + batch.number());
      static_cast<float *>(batch.data(0))[0] = -1;
      return Status();
    };
    std::vector<Given> batches = batchesOf(std::make_unique<Counting>(100), {}, options);
    ASSERT_EQ(seen.size(), batches.size());
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    for (const Given &given : batches)
      EXPECT_EQ(reinterpret_cast<const float *>(given.bytes[0].data())[0], -1);
    options.transfer = [](Batch &batch) {
      return batch.number() == 2 ? failure(DLC_DEVICE, "no such device") : Status();
    };
    Loader loader;
    ASSERT_OK(Loader::create(std::make_unique<Counting>(100), {}, options, loader));
    EXPECT_EQ(drain(loader, 2).size(), 2u);
    Batch batch;
    EXPECT_FAILS(loader.next(batch), "no such device");
  }
}

TEST(Loader, TakesMemoryFromTheAllocator) {
  std::map<void *, size_t> live;
  size_t taken = 0;
  LoaderOptions options = shuffled(2);
  options.prefetch = 3;
  options.allocator.allocate = [&](size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    live[memory] = bytes;
    ++taken;
    return memory;
  };
  options.allocator.release = [&](void *memory, size_t bytes) {
    EXPECT_EQ(live.at(memory), bytes);
    live.erase(memory);
    free(memory);
  };
  EXPECT_EQ(batchesOf(std::make_unique<Counting>(100), {}, options).size(), 21u);
  EXPECT_EQ(taken, 4u * 2); // ring of four, two fields, however many batches
  EXPECT_TRUE(live.empty());
  options.allocator.allocate = [](size_t) { return nullptr; };
  Loader loader;
  EXPECT_FAILS(Loader::create(std::make_unique<Counting>(100), {}, options, loader), "no memory");
}

TEST(Loader, ASlowReaderShowsAsWaiting) {
  auto dataset = std::make_unique<Counting>(64);
  dataset->onRead = [](uint64_t) { sleepMs(2); };
  LoaderOptions options;
  options.batchSize = 16;
  Loader loader;
  ASSERT_OK(Loader::create(std::move(dataset), {}, options, loader));
  drain(loader);
  Statistics slow = loader.statistics();
  EXPECT_GT(slow.waitShare(), 0.8);
  EXPECT_EQ(slow.stages[Read].samples, 64u);
  EXPECT_GT(slow.stages[Read].seconds, 0.12);
  ASSERT_OK(Loader::create(std::make_unique<Counting>(64), {}, options, loader));
  Batch batch;
  do {
    ASSERT_OK(loader.next(batch));
    sleepMs(10); // a consumer that computes
  } while (batch);
  EXPECT_LT(loader.statistics().waitShare(), 0.5);
}

TEST(Loader, ReadersOverlapSlowFiles) {
  double seconds[2];
  for (int readers : {0, 6}) {
    auto dataset = std::make_unique<Counting>(96);
    dataset->onRead = [](uint64_t) { sleepMs(4); }; // files far away
    LoaderOptions options;
    options.batchSize = 16;
    options.readers = readers;
    Loader loader;
    ASSERT_OK(Loader::create(std::move(dataset), {}, options, loader));
    EXPECT_EQ(drain(loader).size(), 6u);
    seconds[readers > 0] = loader.statistics().totalSeconds;
  }
  EXPECT_LT(seconds[1], 0.6 * seconds[0]);
}

TEST(Loader, ATransferMayThrow) {
  LoaderOptions options;
  options.transfer = [](Batch &) -> Status { throw std::runtime_error("device lost"); };
  Loader loader;
  ASSERT_OK(Loader::create(std::make_unique<Counting>(9), {}, options, loader));
  Batch batch;
  EXPECT_FAILS(loader.next(batch), "device lost");
}

TEST(Loader, RecordsThatAreBatches) {
  LoaderOptions options;
  options.batchSize = 0;
  Loader loader;
  ASSERT_OK(Loader::create(std::make_unique<Counting>(5), {}, options, loader));
  Batch batch;
  ASSERT_OK(loader.next(batch));
  EXPECT_EQ(dlc_tensor_rank(batch.tensor(0)), 1);
  EXPECT_EQ(dlc_tensor_dims(batch.tensor(0))[0], 3);
  EXPECT_EQ(loader.batchesPerEpoch(), 5u);
}

TEST(Loader, ChoosesFields) {
  LoaderOptions options;
  options.fields = {"y"};
  std::vector<Given> batches = batchesOf(std::make_unique<Counting>(3), {}, options);
  EXPECT_EQ(batches[2].bytes.size(), 1u);
  options.fields = {"z"};
  Loader loader;
  EXPECT_FAILS(Loader::create(std::make_unique<Counting>(3), {}, options, loader), "no field 'z'; there are x, y");
}

TEST(Loader, RefusesWrongOptions) {
  auto refused = [](auto change, const char *part, uint64_t size = 10) {
    LoaderOptions options;
    change(options);
    Loader loader;
    EXPECT_FAILS(Loader::create(std::make_unique<Counting>(size), {}, options, loader), part);
  };
  refused([](LoaderOptions &o) { o.batchSize = -1; }, "batchSize is -1");
  refused([](LoaderOptions &o) { o.workers = 100000; }, "workers");
  refused([](LoaderOptions &o) { o.prefetch = 0; }, "prefetch");
  refused([](LoaderOptions &o) { o.rank = 2, o.ranks = 2; }, "rank 2 of 2");
  refused([](LoaderOptions &o) { o.workers = 0, o.readers = 1; }, "readers");
  refused([](LoaderOptions &o) { o.ranks = 20; }, "no batch to give");
  refused([](LoaderOptions &o) { o.dropLast = true, o.batchSize = 11; }, "no batch to give");
  refused([](LoaderOptions &) {}, "no samples", 0);
}

} // namespace
