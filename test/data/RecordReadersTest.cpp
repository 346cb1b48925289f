// Readers of records: TFRecord, CSV, tokens.

#include "runtime/data/Crc32c.h"
#include "test/data/DataTest.h"

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

std::span<const uint8_t> spanOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

TEST(Crc32c, KnownAnswers) { // RFC 3720, B.4
  EXPECT_EQ(crc32c(spanOf("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(spanOf(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(crc32c(spanOf(std::string(32, '\xff'))), 0x62a8ab43u);
  std::string counting;
  for (int i = 0; i < 32; ++i)
    counting += static_cast<char>(i);
  EXPECT_EQ(crc32c(spanOf(counting)), 0x46dd794eu);
}

std::string masked(const std::string &bytes) {
  uint32_t crc = crc32c(spanOf(bytes));
  return raw<uint32_t>({(crc >> 15 | crc << 17) + 0xa282ead8u});
}

std::string record(const std::string &data) {
  std::string length = raw<uint64_t>({data.size()});
  return length + masked(length) + data + masked(data);
}

std::string bytesField(int number, const std::string &bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}

std::string feature(const std::string &key, int kind, const std::string &list) {
  return bytesField(1, bytesField(1, key) + bytesField(2, bytesField(kind, list)));
}

std::string example(int64_t label, std::initializer_list<float> values) {
  return bytesField(1, feature("label", 3, bytesField(1, std::string(1, static_cast<char>(label)))) +
                           feature("values", 2, bytesField(1, raw(values))) +
                           feature("name", 1, bytesField(1, "unused")));
}

const std::vector<RecordField> kFields = {{"y", "label", RecordField::Integers, {}},
                                          {"x", "values", RecordField::Floats, {2}}};

TEST(TfRecord, Examples) {
  Folder folder;
  folder.write("a.tfrecord", record(example(3, {1, 2})) + record(example(4, {5, 6})));
  // One by one instead of packed.
  std::string loose = bytesField(1, feature("label", 3, std::string("\x08\x09", 2)) +
                                        feature("values", 2, "\x0d" + raw<float>({7}) + "\x0d" + raw<float>({8})));
  folder.write("b.tfrecord", record(loose));
  std::string message;
  auto samples = samplesOf(
      [&](DatasetPtr &d) { return openTfRecord({folder.path("a.tfrecord"), folder.path("b.tfrecord")}, kFields, d); }, message);
  ASSERT_EQ(samples.size(), 3u) << message;
  EXPECT_EQ(samples[1], (std::vector<std::string>{raw<int64_t>({4}), raw<float>({5, 6})}));
  EXPECT_EQ(samples[2], (std::vector<std::string>{raw<int64_t>({9}), raw<float>({7, 8})}));
}

TEST(TfRecord, Refusals) {
  Folder folder;
  auto message = [&](const std::string &bytes, std::vector<RecordField> fields = kFields) {
    folder.write("a.tfrecord", bytes);
    std::string text;
    samplesOf([&](DatasetPtr &d) { return openTfRecord({folder.path("a.tfrecord")}, fields, d); }, text);
    return text;
  };
  auto has = [](const std::string &text, const char *part) { EXPECT_NE(text.find(part), std::string::npos) << text; };
  std::string good = record(example(3, {1, 2})), changed = good;
  changed[20] ^= 1;
  has(message(good + changed), "a.tfrecord: record 1: wrong checksum of the data");
  changed = good;
  changed[0] ^= 1;
  has(message(changed), "wrong checksum of the length of record 0");
  std::string length = raw<uint64_t>({~uint64_t(0)});
  has(message(length + masked(length) + "1234"), "claims 18446744073709551615 bytes, 4 are there");
  has(message("\x1f\x8b and so on"), "compressed");
  has(message(good, {{"x", "values", RecordField::Floats, {3}}}), "feature 'values' has 2 values, 3 are wanted");
  has(message(good, {{"x", "values", RecordField::Integers, {2}}}), "is no list of integers");
  has(message(good, {{"x", "other", RecordField::Floats, {2}}}), "no feature 'other'");
  has(message(good, {{"x", "name", RecordField::Image, {}}}), "neither PNG nor JPEG");
  has(message(good, {}), "name the features");
  has(message(record("\x0a\x7f")), "truncated or not a protobuf message");
}

TEST(TfRecord, Damaged) {
  Folder folder;
  std::string path = folder.path("a.tfrecord"), bytes;
  for (int i = 0; i < 5; ++i)
    bytes += record(example(i, {1.0f * i, 2}));
  // Cut between two records it is a shorter file: nothing says how many there should be.
  damage(path, bytes, [&](DatasetPtr &d) { return openTfRecord({path}, kFields, d); });
}

std::string csvMessage(const std::string &text, const CsvOptions &options,
                       std::vector<std::vector<std::string>> *samples = nullptr,
                       std::vector<std::string> *classes = nullptr) {
  Folder folder;
  std::string path = folder.write("t.csv", text), message;
  auto got = samplesOf([&](DatasetPtr &d) { return openCsv(path, options, d, classes); }, message);
  if (samples)
    *samples = got;
  return message;
}

TEST(Csv, NumbersAndClasses) {
  std::vector<std::vector<std::string>> samples;
  std::vector<std::string> classes;
  CsvOptions options;
  options.label = "kind";
  ASSERT_EQ(csvMessage("\xef\xbb\xbfwidth,kind,\"the height\"\r\n1.5,dog,-2\r\n\r\n 3 , \"cat\" ,\"4e1\"\n5,dog,+6", options,
                       &samples, &classes), "");
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(samples[0], (std::vector<std::string>{raw<float>({1.5f, -2}), raw<int64_t>({1})}));
  EXPECT_EQ(samples[1], (std::vector<std::string>{raw<float>({3, 40}), raw<int64_t>({0})}));
  EXPECT_EQ(samples[2], (std::vector<std::string>{raw<float>({5, 6}), raw<int64_t>({1})}));

  options = {};
  options.separator = ';';
  options.header = false;
  options.label = "2";
  ASSERT_EQ(csvMessage("1;2;7\n3;4;10\n", options, &samples, &classes), "");
  EXPECT_TRUE(classes.empty());
  EXPECT_EQ(samples[1], (std::vector<std::string>{raw<float>({3, 4}), raw<int64_t>({10})}));
  options.classes = false;
  ASSERT_EQ(csvMessage("1;2;7.5\n", options, &samples), "");
  EXPECT_EQ(samples[0][1], raw<float>({7.5f}));
  options.label.clear();
  ASSERT_EQ(csvMessage("1;2;7.5\n", options, &samples), "");
  EXPECT_EQ(samples[0], (std::vector<std::string>{raw<float>({1, 2, 7.5f})}));
}

TEST(Csv, NamesLineAndColumn) {
  CsvOptions options;
  options.label = "y";
  auto fails = [&](const std::string &text, const char *part) {
    std::string message = csvMessage(text, options);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  fails("a,y\n1,0\n\nx,1\n", "t.csv: line 4: column 'a': 'x' is no finite number");
  fails("a,y\n1,0\nnan,1\n", "line 3: column 'a': 'nan' is no finite number");
  fails("a,y\n1,0\n2,dog\n", "line 3: column 'y': 'dog' is no class");
  fails("a,y\n1,0\n2,-1\n", "'-1' is no class");
  fails("a,y\n1,0\n2\n", "line 3: 1 columns, there should be 2");
  fails("a,y\n1,0,5\n", "line 2: more than the 2 columns");
  fails("a,y\n1,\"0\n2,1\n", "line 2: a quote does not end");
  fails("a,b\n1,0\n", "no column 'y' among its 2");
  fails("y\n1\n", "no columns besides the label");
  fails("", "the file is empty");
}

TEST(Csv, ABrokenRowIsABrokenSample) {
  Folder folder;
  std::string path = folder.write("t.csv", "a,y\n1,0\n?,1\n3,1\n");
  CsvOptions options;
  options.label = "y";
  DatasetPtr dataset;
  ASSERT_OK(openCsv(path, options, dataset));
  LoaderOptions loading;
  loading.batchSize = 3;
  loading.onBroken = OnBroken::Skip;
  std::vector<Given> batches = batchesOf(std::move(dataset), {}, loading);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].bytes[0], raw<float>({1, 3}));
}

TEST(Csv, Damaged) {
  Folder folder;
  CsvOptions options;
  options.label = "y";
  std::string path = folder.path("t.csv");
  damage(path, "a,b,y\n1,2,cat\n3,\"4\",dog\n5,6,\"cat\"\n", [&](DatasetPtr &d) { return openCsv(path, options, d); });
}

TEST(Tokens, WindowsAndTheirSuccessors) {
  Folder folder;
  std::string path = folder.write("t.bin", raw<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8}));
  TokenOptions options;
  options.length = 3;
  std::string message;
  auto samples = samplesOf([&](DatasetPtr &d) { return openTokens(path, options, d); }, message);
  ASSERT_EQ(samples.size(), 2u) << message; // 1..4 and 4..7
  EXPECT_EQ(samples[1][0], raw<uint16_t>({4, 5, 6}));
  EXPECT_EQ(samples[1][1], raw<uint16_t>({5, 6, 7}));
  options.stride = 1;
  EXPECT_EQ(samplesOf([&](DatasetPtr &d) { return openTokens(path, options, d); }, message).size(), 5u);
  DatasetPtr dataset;
  options.length = 8;
  EXPECT_FAILS(openTokens(path, options, dataset), "8 tokens, a sample needs 9");
  options.length = 0;
  EXPECT_FAILS(openTokens(path, options, dataset), "samples of 0 tokens");
  options = {DLC_U32, 1, 0};
  folder.write("t.bin", "12345");
  EXPECT_FAILS(openTokens(path, options, dataset), "no whole number of u32 tokens");
  options.type = DLC_F32;
  EXPECT_FAILS(openTokens(path, options, dataset), "tokens of f32");
}

} // namespace
