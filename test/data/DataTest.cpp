#include "test/data/DataTest.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace dlc::test {

Folder::Folder() {
  // In memory where there is such a place: the tests of damaged files write thousands.
  std::filesystem::path memory = "/dev/shm";
  bool usable = access(memory.c_str(), W_OK) == 0;
  std::string pattern = (usable ? memory : std::filesystem::temp_directory_path()) / "dlc-data-XXXXXX";
  root = mkdtemp(pattern.data());
}

Folder::~Folder() { std::filesystem::remove_all(root); }

std::string Folder::write(const std::string &name, const std::string &bytes) const {
  std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

Status Counting::read(uint64_t index, data::Sample &sample) const {
  ++reads;
  if (onRead)
    onRead(index);
  if (broken.contains(index))
    return data::failure(DLC_USAGE, "bad bytes");
  const int64_t dims[] = {3};
  auto *x = reinterpret_cast<float *>(sample.values[0].prepare(DLC_F32, dims));
  for (int i = 0; i < 3; ++i)
    x[i] = static_cast<float>(index * (i + 1));
  sample.values[0].commit();
  auto y = static_cast<int64_t>(index);
  std::memcpy(sample.values[1].prepare(DLC_I64, {}), &y, sizeof y);
  sample.values[1].commit();
  return Status();
}

Status Noise::apply(data::Sample &sample, data::Random &random) const {
  const float *old = sample.values[0].as<float>();
  auto *x = reinterpret_cast<float *>(sample.values[0].prepare(DLC_F32, sample.values[0].dims()));
  for (int i = 0; i < 3; ++i)
    x[i] = old[i] + static_cast<float>(random.uniform());
  sample.values[0].commit();
  return Status();
}

data::Transforms noise() {
  data::Transforms transforms;
  transforms.push_back(std::make_unique<Noise>());
  return transforms;
}

Given copyOf(const data::Batch &batch) {
  Given given{batch.epoch(), batch.number(), {batch.indices().begin(), batch.indices().end()}, {}};
  for (size_t i = 0; i < batch.fieldCount(); ++i)
    given.bytes.emplace_back(static_cast<const char *>(dlc_tensor_data(batch.tensor(i))),
                             dlc_tensor_size_bytes(batch.tensor(i)));
  return given;
}

std::vector<Given> drain(data::Loader &loader, size_t most) {
  std::vector<Given> all;
  data::Batch batch;
  while (all.size() < most) {
    Status status = loader.next(batch);
    EXPECT_FALSE(status) << messageOf(status);
    if (status || !batch)
      break;
    all.push_back(copyOf(batch));
  }
  return all;
}

std::vector<Given> batchesOf(data::DatasetPtr dataset, data::Transforms transforms,
                             const data::LoaderOptions &options) {
  data::Loader loader;
  Status status = data::Loader::create(std::move(dataset), std::move(transforms), options, loader);
  EXPECT_FALSE(status) << messageOf(status);
  return status ? std::vector<Given>() : drain(loader);
}

std::string bigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::vector<std::vector<std::string>> samplesOf(const Open &open, std::string &message) {
  std::vector<std::vector<std::string>> all;
  data::DatasetPtr dataset;
  message = messageOf(open(dataset));
  if (!message.empty())
    return {};
  data::Sample sample;
  sample.values.resize(dataset->fields().size());
  // A damaged header may claim more records than are worth reading.
  for (uint64_t i = 0; i < std::min<uint64_t>(dataset->size(), 5000); ++i) {
    sample.index = i;
    Status status = dataset->read(i, sample);
    if (!status)
      status = dataset->decode(sample);
    if (status) {
      message = dataset->where(i) + ": " + messageOf(status);
      return {};
    }
    std::vector<std::string> values;
    for (const data::Value &value : sample.values)
      values.emplace_back(reinterpret_cast<const char *>(value.bytes().data()), value.bytes().size());
    all.push_back(std::move(values));
  }
  return all;
}

namespace {

void tryDamaged(const std::string &path, const std::string &bytes, const Open &open,
                const std::vector<std::vector<std::string>> *expected) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  std::string message;
  auto samples = samplesOf(open, message);
  if (!message.empty()) {
    EXPECT_NE(message.find(std::filesystem::path(path).filename()), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 1000u) << message;
  } else if (expected) {
    EXPECT_EQ(samples, *expected);
  }
}

void damageAll(const std::string &path, const std::string &bytes, const Open &open, bool checked) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  std::string message;
  auto whole = samplesOf(open, message);
  ASSERT_EQ(message, "");
  ASSERT_FALSE(whole.empty());
  // 0 unless shuffled: --gtest_shuffle --gtest_repeat=100 damages in other places each time.
  data::Random random(1, 0, static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed()));
  size_t step = std::max<size_t>(1, bytes.size() / 150);
  for (size_t length = 0; length < bytes.size(); length += step)
    tryDamaged(path, bytes.substr(0, length), open, checked ? &whole : nullptr);
  for (int i = 0; i < 400; ++i) {
    std::string changed = bytes;
    // Headers are where the lengths are.
    size_t range = i % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 128);
    changed[random.below(range)] ^= static_cast<char>(1 << random.below(8));
    if (i % 4 == 3)
      changed[random.below(bytes.size())] = static_cast<char>(random.below(2) ? 0xff : random.bits());
    tryDamaged(path, changed, open, checked ? &whole : nullptr);
  }
}

} // namespace

void damage(const std::string &path, const std::string &bytes, const Open &open) {
  damageAll(path, bytes, open, false);
}

void damageChecked(const std::string &path, const std::string &bytes, const Open &open) {
  damageAll(path, bytes, open, true);
}

} // namespace dlc::test
