// Decoded samples are kept, in memory and in a file, and come back as they were.

#include "test/data/DataTest.h"

#include <filesystem>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

constexpr uint64_t kSamples = 100;

LoaderOptions threeEpochs() {
  LoaderOptions options;
  options.batchSize = 8;
  options.epochs = 3;
  options.shuffle = Shuffle::Full;
  options.workers = 3;
  return options;
}

struct Outcome {
  std::vector<Given> batches;
  Statistics statistics;
  uint64_t reads;
};

Outcome runWith(const LoaderOptions &options) {
  auto dataset = std::make_unique<Counting>(kSamples);
  Counting *counting = dataset.get();
  Loader loader;
  Status status = Loader::create(std::move(dataset), noise(), options, loader);
  EXPECT_FALSE(status) << messageOf(status);
  Outcome run;
  run.batches = drain(loader);
  run.statistics = loader.statistics();
  run.reads = counting->reads;
  return run;
}

TEST(Cache, ReadsEachSampleOnce) {
  Outcome plain = runWith(threeEpochs());
  EXPECT_EQ(plain.reads, 3 * kSamples);
  for (int readers : {0, 2}) {
    LoaderOptions options = threeEpochs();
    options.readers = readers;
    options.cacheBytes = 1 << 20;
    Outcome cached = runWith(options);
    // An epoch begins before the one before it has ended: a sample may be read twice.
    EXPECT_LT(cached.reads, kSamples + 40);
    EXPECT_EQ(cached.batches, plain.batches); // draws come after the cache
    EXPECT_GT(cached.statistics.cacheHits, 2 * kSamples - 40);
    EXPECT_LE(cached.statistics.cachedBytes, options.cacheBytes);
  }
}

TEST(Cache, StaysWithinItsBudgetAndSpills) {
  Folder folder;
  Outcome plain = runWith(threeEpochs());
  LoaderOptions options = threeEpochs();
  options.cacheBytes = 6000; // some twenty samples
  Outcome small = runWith(options);
  EXPECT_EQ(small.batches, plain.batches);
  EXPECT_LE(small.statistics.cachedBytes, 6000u);
  EXPECT_GT(small.reads, kSamples + 100);

  options.cacheFile = folder.path("spill");
  options.cacheFileBytes = 1 << 20;
  Outcome spilled = runWith(options);
  EXPECT_EQ(spilled.batches, plain.batches);
  EXPECT_LT(spilled.reads, kSamples + 40);
  EXPECT_GT(spilled.statistics.cachedFileBytes, 10000u);
  EXPECT_FALSE(std::filesystem::exists(folder.path("spill"))); // nothing is left behind

  options.cacheFileBytes = 4096; // full soon
  Outcome full = runWith(options);
  EXPECT_EQ(full.batches, plain.batches);
  EXPECT_LE(full.statistics.cachedFileBytes, 4096u);
}

TEST(Cache, RefusesAFileThatExistsOrCannotBe) {
  Folder folder;
  folder.write("there", "precious");
  LoaderOptions options;
  options.cacheFileBytes = 4096;
  Loader loader;
  for (const char *name : {"there", "no/such/folder"}) {
    options.cacheFile = folder.path(name);
    EXPECT_FAILS(Loader::create(std::make_unique<Counting>(3), {}, options, loader), "cannot make the cache file");
  }
}

} // namespace
