// The data pipeline: pictures per second from JPEG files to normalised batches, as a share
// of what the workers' cores can decode without it, and what a batch costs when its
// samples cost next to nothing. Every run checks that it got what it asked for.

#include "dlc/data.hpp"
#include "test/data/Pictures.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace dlc;
using namespace dlc::data;

namespace {

constexpr int kPictures = 128, kWidth = 500, kHeight = 375, kSide = 224, kBatch = 32;

/// Photographs are neither flat nor noise: waves, and a little of both.
std::vector<uint8_t> scene(int number) {
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t(kWidth) * kHeight * 3);
  Random random(1, 0, number);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < 3; ++c)
        pixels.push_back(static_cast<uint8_t>(((x * (number % 7 + 1)) / 3 ^ (y * (c + 1)) / 2) % 160 + random.below(24)));
  return pixels;
}

/// A folder of pictures, made once and removed at the end.
const std::string &pictures() {
  struct Folder {
    Folder() : root(std::filesystem::temp_directory_path() / ("dlc-bench-data-" + std::to_string(getpid()))) {
      std::filesystem::create_directories(root + "/class");
      for (int i = 0; i < kPictures; ++i)
        std::ofstream(root + "/class/" + std::to_string(i) + ".jpg", std::ios::binary)
            << test::jpegOf(kWidth, kHeight, scene(i));
    }
    ~Folder() { std::filesystem::remove_all(root); }
    std::string root;
  };
  static Folder folder;
  return folder.root;
}

Transforms preparation() {
  Transforms transforms;
  transforms.push_back(resize("image", kSide, kSide));
  transforms.push_back(normalize("image", {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}));
  return transforms;
}

/// One thread, no pipeline: the rate that the workers are held against.
void decodeAlone(benchmark::State &state) {
  DatasetPtr dataset;
  if (Status status = openImageFolder(pictures(), {}, dataset))
    return state.SkipWithError(status.message());
  Transforms transforms = preparation();
  std::vector<FieldSpec> fields = dataset->fields();
  for (TransformPtr &transform : transforms)
    if (Status status = transform->bind(fields))
      return state.SkipWithError(status.message());
  Sample sample;
  sample.values.resize(2);
  std::vector<float> place(size_t(kSide) * kSide * 3);
  int64_t done = 0;
  for (auto _ : state) {
    Random random(0, 0, 0);
    Status status = dataset->read(done++ % kPictures, sample);
    if (!status)
      status = dataset->decode(sample);
    for (TransformPtr &transform : transforms)
      if (!status)
        status = transform->apply(sample, random);
    if (status)
      return state.SkipWithError(status.message());
    std::copy_n(sample.values[0].as<float>(), place.size(), place.data());
    benchmark::DoNotOptimize(place.data());
  }
  state.SetItemsProcessed(done);
}

/// Takes batches until the state has enough; counts samples.
void consume(benchmark::State &state, Loader &loader) {
  Batch batch;
  int64_t samples = 0;
  if (Status status = loader.next(batch)) // the threads are warm
    return state.SkipWithError(status.message());
  for (auto _ : state) {
    if (Status status = loader.next(batch))
      return state.SkipWithError(status.message());
    samples += batch.count();
    benchmark::DoNotOptimize(batch.data(0));
  }
  state.SetItemsProcessed(samples);
  Statistics statistics = loader.statistics();
  state.counters["wait_share"] = statistics.waitShare();
  for (Stage stage : {Read, Decode, Augment, Collect}) // elapsed, so it needs a quiet machine
    if (const StageStatistics &entry = statistics.stages[stage]; entry.samples > 0)
      state.counters[std::string(stageName(stage)) + "_us"] = 1e6 * entry.seconds / static_cast<double>(entry.samples);
}

void loadPictures(benchmark::State &state) {
  DatasetPtr dataset;
  if (Status status = openImageFolder(pictures(), {}, dataset))
    return state.SkipWithError(status.message());
  LoaderOptions options;
  options.batchSize = kBatch;
  options.epochs = 0;
  options.shuffle = Shuffle::Full;
  options.workers = static_cast<int>(state.range(0));
  Loader loader;
  if (Status status = Loader::create(std::move(dataset), preparation(), options, loader))
    return state.SkipWithError(status.message());
  consume(state, loader);
}

/// Samples that cost nothing: what is left is the pipeline itself.
class Digits : public Dataset {
public:
  uint64_t size() const override { return 60000; }
  std::vector<FieldSpec> fields() const override { return {{"image", DLC_U8, {28, 28}}, {"label", DLC_U8, {}}}; }
  std::string where(uint64_t index) const override { return std::to_string(index); }
  Status read(uint64_t index, Sample &sample) const override {
    const int64_t dims[] = {28, 28};
    sample.values[0].borrow(DLC_U8, dims, &pixels[index % 1000]);
    sample.values[1].borrow(DLC_U8, {}, &pixels[index % 10]);
    return Status();
  }

private:
  std::vector<uint8_t> pixels = std::vector<uint8_t>(2000);
};

void loadDigits(benchmark::State &state) {
  LoaderOptions options;
  options.batchSize = 64;
  options.epochs = 0;
  options.shuffle = Shuffle::Full;
  options.workers = static_cast<int>(state.range(0));
  Loader loader;
  if (Status status = Loader::create(std::make_unique<Digits>(), {}, options, loader))
    return state.SkipWithError(status.message());
  consume(state, loader);
}

// The column CPU is of all threads together: it holds on a busy machine too.
BENCHMARK(decodeAlone)->Name("pictures_alone")->UseRealTime()->MeasureProcessCPUTime()->MinTime(2);
BENCHMARK(loadPictures)->Name("pictures")->ArgName("workers")->Arg(0)->Arg(1)->Arg(2)->UseRealTime()
    ->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK(loadDigits)->Name("digits_batch_64")->ArgName("workers")->Arg(0)->Arg(1)->Arg(2)->UseRealTime()
    ->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);

} // namespace
