// Helpers of the data pipeline's tests: files in a folder of their own, a dataset whose
// samples can be slow or broken, and what a loader gives as one comparable value.

#ifndef DLC_TEST_DATA_DATATEST_H
#define DLC_TEST_DATA_DATATEST_H

#include "dlc/data.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>

namespace dlc::test {

/// A folder that goes away with the test.
class Folder {
public:
  Folder();
  ~Folder();
  std::string path(const std::string &name) const { return root + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const;
  std::string root;
};

inline std::string messageOf(const Status &status) { return status ? status.message() : ""; }

#define EXPECT_OK(expr)                                                                           \
  if (::dlc::Status status_ = (expr))                                                             \
  ADD_FAILURE() << status_.message()
#define ASSERT_OK(expr)                                                                           \
  if (::dlc::Status status_ = (expr))                                                             \
  GTEST_FAIL() << status_.message()
/// The call fails, and its message has `part`.
#define EXPECT_FAILS(expr, part)                                                                  \
  do {                                                                                            \
    ::dlc::Status status_ = (expr);                                                               \
    ASSERT_TRUE(bool(status_)) << "no failure";                                                   \
    EXPECT_NE(std::string(status_.message()).find(part), std::string::npos)                       \
        << status_.message();                                                                     \
  } while (false)

/// Sample i has x = [i, 2i, 3i] as f32 and y = i as i64.
class Counting : public data::Dataset {
public:
  explicit Counting(uint64_t count) : count(count) {}
  uint64_t size() const override { return count; }
  std::vector<data::FieldSpec> fields() const override {
    return {{"x", DLC_F32, {3}}, {"y", DLC_I64, {}}};
  }
  std::string where(uint64_t index) const override { return "counting: record " + std::to_string(index); }
  Status read(uint64_t index, data::Sample &sample) const override;

  std::set<uint64_t> broken;
  std::function<void(uint64_t)> onRead;
  mutable std::atomic<uint64_t> reads{0};

private:
  uint64_t count;
};

/// Adds a draw to every x: shows whether random numbers depend on the threads.
class Noise : public data::Transform {
public:
  Status bind(std::vector<data::FieldSpec> &) override { return Status(); }
  Status apply(data::Sample &sample, data::Random &random) const override;
  bool isRandom() const override { return true; }
};

data::Transforms noise();

struct Given {
  uint64_t epoch, number;
  std::vector<uint64_t> indices;
  std::vector<std::string> bytes; // per field
  bool operator==(const Given &) const = default;
};

Given copyOf(const data::Batch &batch);
/// Batches until the end, or `most`.
std::vector<Given> drain(data::Loader &loader, size_t most = SIZE_MAX);
/// A loader's every batch.
std::vector<Given> batchesOf(data::DatasetPtr dataset, data::Transforms transforms,
                             const data::LoaderOptions &options);

using Open = std::function<Status(data::DatasetPtr &)>;
/// Every sample of a dataset, read and decoded; empty and a message if that fails.
std::vector<std::vector<std::string>> samplesOf(const Open &open, std::string &message);
/// Opens copies of `bytes`, written to `path`, that are cut short or have changed bits:
/// each gives samples or a failure of one line that names the file.
void damage(const std::string &path, const std::string &bytes, const Open &open);
/// The same, and whoever does not fail has the same samples: for formats with checksums.
void damageChecked(const std::string &path, const std::string &bytes, const Open &open);

/// The bytes of numbers, least significant first.
template <typename T> std::string raw(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(T));
}
std::string bigEndian(uint32_t value);

} // namespace dlc::test

#endif // DLC_TEST_DATA_DATATEST_H
