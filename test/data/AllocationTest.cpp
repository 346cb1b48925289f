// In steady state the pipeline allocates nothing per sample, whatever the threads.
// Its own program: it replaces the allocator to count.

#include "test/CountingAllocator.h"
#include "test/data/DataTest.h"

#include <algorithm>
#include <climits>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

/// The fewest allocations in one of up to 50 runs of 40 batches: a thread that a busy
/// machine starts late takes its buffers late, but what is taken for every sample is
/// taken in every run.
long allocationsOf(DatasetPtr dataset, Transforms transforms, int workers, int readers, size_t cacheBytes = 0) {
  LoaderOptions options;
  options.batchSize = 16;
  options.epochs = 0;
  options.shuffle = Shuffle::Full;
  options.workers = workers;
  options.readers = readers;
  options.cacheBytes = cacheBytes;
  Loader loader;
  Status status = Loader::create(std::move(dataset), std::move(transforms), options, loader);
  EXPECT_FALSE(status) << messageOf(status);
  Batch batch;
  long fewest = LONG_MAX;
  for (int run = 0; run < 50 && fewest > 0; ++run) {
    long before = allocations;
    for (int i = 0; i < 40; ++i) {
      Status next = loader.next(batch);
      EXPECT_FALSE(next) << messageOf(next);
      batch.tensor(0);
      batch.tensor(1);
    }
    fewest = std::min(fewest, allocations - before);
  }
  return fewest;
}

Transforms imageTransforms() {
  Transforms transforms;
  transforms.push_back(resize("image", 40, 36));
  transforms.push_back(randomCrop("image", 32, 32, 4));
  transforms.push_back(randomResizedCrop("image", 24, 24));
  transforms.push_back(randomFlip("image"));
  transforms.push_back(colorJitter("image", {0.2, 0.2, 0.2, 0.1}));
  transforms.push_back(normalize("image", {0.5}, {0.5}));
  transforms.push_back(channelsFirst("image"));
  transforms.push_back(oneHot("label", 10));
  return transforms;
}

struct Threads {
  int workers, readers;
};
constexpr Threads kThreads[] = {{0, 0}, {2, 0}, {2, 1}};

TEST(Allocation, NoneForImagesWithTransforms) {
  Folder folder;
  folder.write("c.bin", std::string(3073 * 64, '\1'));
  for (Threads threads : kThreads)
    for (size_t cacheBytes : {size_t(0), size_t(1) << 20}) {
      DatasetPtr dataset;
      ASSERT_OK(openCifar({folder.path("c.bin")}, 10, dataset));
      EXPECT_EQ(allocationsOf(std::move(dataset), imageTransforms(), threads.workers, threads.readers, cacheBytes), 0)
          << threads.workers << " workers, " << threads.readers << " readers, cache of " << cacheBytes;
    }
}

TEST(Allocation, NoneForTables) {
  Folder folder;
  std::string rows = "a,b,y\n";
  for (int i = 0; i < 64; ++i)
    rows += std::to_string(i) + ",2.5," + (i % 2 ? "cat" : "dog") + "\n";
  folder.write("t.csv", rows);
  CsvOptions options;
  options.label = "y";
  for (Threads threads : kThreads) {
    DatasetPtr dataset;
    ASSERT_OK(openCsv(folder.path("t.csv"), options, dataset));
    EXPECT_EQ(allocationsOf(std::move(dataset), {}, threads.workers, threads.readers), 0);
  }
}

TEST(Allocation, NoneForTokens) {
  Folder folder;
  folder.write("t.bin", std::string(2 * (64 * 32 + 1), '\0'));
  TokenOptions options;
  options.length = 32;
  for (Threads threads : kThreads) {
    DatasetPtr dataset;
    ASSERT_OK(openTokens(folder.path("t.bin"), options, dataset));
    Transforms transforms;
    transforms.push_back(cast("x", DLC_I64));
    EXPECT_EQ(allocationsOf(std::move(dataset), std::move(transforms), threads.workers, threads.readers), 0);
  }
}

} // namespace
