// Readers of arrays: NPY, NPZ, IDX, CIFAR.

#include "runtime/tools/io/Npy.h"
#include "test/data/DataTest.h"

#include <fstream>
#include <sstream>
#include <zip.h>
#include <zlib.h>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

std::string bytesOfFile(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

cli::Tensor counting(dlc_type type, const cli::Dims &dims) {
  cli::Tensor tensor = cli::makeTensor(type, dims, "test");
  for (int64_t i = 0; i < cli::elementCount(*tensor); ++i)
    cli::setElement(*tensor, i, static_cast<double>(i));
  return tensor;
}

std::string npy(const std::string &order, const std::string &code, bool fortran, const std::string &shape,
                const std::string &bytes) {
  std::string text = "{'descr': '" + order + code + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': " + shape + ", }\n";
  std::string header("\x93NUMPY\1\0", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text + bytes;
}

std::string gzip(const std::string &bytes) {
  z_stream zlib = {};
  deflateInit2(&zlib, 9, Z_DEFLATED, MAX_WBITS | 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 1000, '\0');
  zlib.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  zlib.avail_in = static_cast<unsigned>(bytes.size());
  zlib.next_out = reinterpret_cast<Bytef *>(out.data());
  zlib.avail_out = static_cast<unsigned>(out.size());
  deflate(&zlib, Z_FINISH);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

std::string mnist(uint32_t count) {
  std::string bytes = std::string("\0\0\x08\3", 4) + bigEndian(count) + bigEndian(2) + bigEndian(3);
  for (uint32_t i = 0; i < count * 6; ++i)
    bytes += static_cast<char>(i);
  return bytes;
}

TEST(Npy, RowsAreSamples) {
  Folder folder;
  cli::writeNpy(folder.path("x.npy"), *counting(DLC_F32, {5, 2, 3}));
  cli::writeNpy(folder.path("y.npy"), *counting(DLC_I64, {5}));
  DatasetPtr dataset;
  ASSERT_OK(openNpy({{"x", folder.path("x.npy")}, {"label", folder.path("y.npy")}}, dataset));
  EXPECT_EQ(dataset->size(), 5u);
  std::vector<FieldSpec> fields = dataset->fields();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(fields[1].name, "label");
  std::string message;
  auto samples = samplesOf(
      [&](DatasetPtr &d) { return openNpy({{"x", folder.path("x.npy")}, {"y", folder.path("y.npy")}}, d); },
      message);
  ASSERT_EQ(samples.size(), 5u) << message;
  EXPECT_EQ(samples[3][0], raw<float>({18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(samples[3][1], raw<int64_t>({3}));
}

TEST(Npy, OtherOrdersAndOddAlignment) {
  Folder folder;
  auto one = [&](const std::string &bytes) {
    folder.write("a.npy", bytes);
    std::string message;
    auto samples = samplesOf([&](DatasetPtr &d) { return openNpy({{"a", folder.path("a.npy")}}, d); }, message);
    EXPECT_EQ(message, "");
    return samples.empty() ? "" : samples.back()[0];
  };
  EXPECT_EQ(one(npy(">", "i2", false, "(2, 2)", std::string("\0\1\0\2\0\3\0\4", 8))), raw<int16_t>({3, 4}));
  EXPECT_EQ(one(npy("<", "i2", true, "(2, 2)", raw<int16_t>({1, 2, 3, 4}))), raw<int16_t>({2, 4}));
  EXPECT_EQ(one(npy("|", "b1", false, "(2, 2)", std::string("\1\0\2\0", 4))), std::string("\1\0", 2));
  EXPECT_EQ(one(npy("<", "f4", false, "(2,)   ", raw<float>({1, 2}))), raw<float>({2}));
}

TEST(Npy, RefusesWhatDoesNotFit) {
  Folder folder;
  cli::writeNpy(folder.path("x.npy"), *counting(DLC_F32, {5, 2}));
  cli::writeNpy(folder.path("y.npy"), *counting(DLC_F32, {4}));
  folder.write("scalar.npy", npy("<", "f4", false, "()", raw<float>({1})));
  DatasetPtr dataset;
  EXPECT_FAILS(openNpy({{"x", folder.path("x.npy")}, {"y", folder.path("y.npy")}}, dataset),
               "y.npy: 4 samples, but");
  EXPECT_FAILS(openNpy({{"x", folder.path("scalar.npy")}}, dataset), "a scalar has no samples");
  EXPECT_FAILS(openNpy({{"x", folder.path("none.npy")}}, dataset), "none.npy: cannot open");
  EXPECT_FAILS(openNpy({}, dataset), "no arrays");
}

TEST(Npy, Damaged) {
  Folder folder;
  cli::writeNpy(folder.path("x.npy"), *counting(DLC_F32, {50, 2}));
  damage(folder.path("x.npy"), bytesOfFile(folder.path("x.npy")),
         [&](DatasetPtr &d) { return openNpy({{"x", folder.path("x.npy")}}, d); });
}

TEST(Npz, ArraysAreFields) {
  Folder folder;
  cli::Tensor x = counting(DLC_F32, {6, 4}), y = counting(DLC_U8, {6});
  cli::writeNpz(folder.path("a.npz"), {{"x", x.get()}, {"y", y.get()}});
  std::string message;
  auto samples = samplesOf([&](DatasetPtr &d) { return openNpz(folder.path("a.npz"), d); }, message);
  ASSERT_EQ(samples.size(), 6u) << message;
  EXPECT_EQ(samples[5][0], raw<float>({20, 21, 22, 23}));
  EXPECT_EQ(samples[5][1], "\5");
}

TEST(Npz, UsedInPlaceOrUnpacked) {
  Folder folder;
  cli::Tensor x = counting(DLC_F32, {6, 4});
  cli::writeNpy(folder.path("x.npy"), *x);
  std::string array = bytesOfFile(folder.path("x.npy")), message;
  std::vector<std::vector<std::string>> samples[2];
  for (int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    std::string path = folder.path(method == ZIP_CM_STORE ? "s.npz" : "d.npz");
    zip_t *archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    zip_int64_t index = zip_file_add(archive, "x.npy", zip_source_buffer(archive, array.data(), array.size(), 0), 0);
    zip_set_file_compression(archive, index, method, 0);
    zip_set_archive_comment(archive, "with a comment", 14);
    ASSERT_EQ(zip_close(archive), 0);
    samples[method != ZIP_CM_STORE] = samplesOf([&](DatasetPtr &d) { return openNpz(path, d); }, message);
    EXPECT_EQ(message, "");
    damageChecked(path, bytesOfFile(path), [&](DatasetPtr &d) { return openNpz(path, d); });
  }
  ASSERT_EQ(samples[0].size(), 6u);
  EXPECT_EQ(samples[0], samples[1]);
}

TEST(Npz, TwoArraysOfOneName) {
  Folder folder;
  cli::writeNpy(folder.path("x.npy"), *counting(DLC_F32, {2}));
  DatasetPtr dataset;
  EXPECT_FAILS(openNpy({{"x", folder.path("x.npy")}, {"x", folder.path("x.npy")}}, dataset), "two arrays are named 'x'");
}

TEST(OpenData, KnowsFilesByTheirNames) {
  Folder folder;
  std::string labels = std::string("\0\0\x08\1", 4) + bigEndian(3) + "abc";
  auto opens = [&](const std::string &path, uint64_t size, Split split = Split::Train) {
    DatasetPtr dataset;
    Status status = openData(folder.path(path), split, dataset);
    EXPECT_FALSE(status) << messageOf(status);
    if (!status) {
      EXPECT_EQ(dataset->size(), size) << path;
    }
  };
  folder.write("mnist/train-images-idx3-ubyte.gz", gzip(mnist(3)));
  folder.write("mnist/train-labels-idx1-ubyte", labels);
  opens("mnist", 3);
  for (const char *name : {"data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"})
    folder.write(std::string("cifar/") + name, std::string(3073, '\1'));
  opens("cifar", 2);
  opens("cifar", 1, Split::Test);
  folder.write("t.csv", "a, label\n1,2\n");
  opens("t.csv", 1);
  cli::Tensor x = counting(DLC_F32, {6, 4});
  cli::writeNpz(folder.path("a.npz"), {{"x", x.get()}});
  opens("a.npz", 6);
  DatasetPtr dataset;
  EXPECT_FAILS(openData(folder.path("mnist"), Split::Test, dataset), "no test part");
  EXPECT_FAILS(openData(folder.path("a.npz"), Split::Test, dataset), "a file has no test part");
  EXPECT_FAILS(openData(folder.path("none"), Split::Train, dataset), "no such file");
  folder.write("b.csv", "a,b\n1,2\n");
  EXPECT_FAILS(openData(folder.path("b.csv"), Split::Train, dataset), "b.csv: no column");
  folder.write("c.xyz", "1");
  EXPECT_FAILS(openData(folder.path("c.xyz"), Split::Train, dataset), "not known by its name");
}

TEST(Npz, Damaged) {
  Folder folder;
  cli::Tensor x = counting(DLC_F32, {30, 4}), y = counting(DLC_U8, {30});
  std::string path = folder.path("a.npz");
  cli::writeNpz(path, {{"x", x.get()}, {"y", y.get()}});
  damageChecked(path, bytesOfFile(path), [&](DatasetPtr &d) { return openNpz(path, d); });
}

TEST(Idx, PlainAndGzipped) {
  Folder folder;
  std::string labels = std::string("\0\0\x08\1", 4) + bigEndian(9) + "abcdefghi";
  folder.write("images", mnist(9));
  folder.write("images.gz", gzip(mnist(9)));
  folder.write("labels", labels);
  std::vector<std::vector<std::string>> expected;
  for (const char *images : {"images", "images.gz"}) {
    std::string message;
    auto samples = samplesOf(
        [&](DatasetPtr &d) {
          return openIdx({{"image", folder.path(images)}, {"label", folder.path("labels")}}, d);
        },
        message);
    ASSERT_EQ(samples.size(), 9u) << message;
    EXPECT_EQ(samples[8][0], "\x30\x31\x32\x33\x34\x35");
    EXPECT_EQ(samples[8][1], "i");
  }
}

TEST(Idx, WiderElementsAreTurned) {
  Folder folder;
  folder.write("a", std::string("\0\0\x0c\1", 4) + bigEndian(2) + bigEndian(7) + bigEndian(258));
  std::string message;
  auto samples = samplesOf([&](DatasetPtr &d) { return openIdx({{"a", folder.path("a")}}, d); }, message);
  ASSERT_EQ(samples.size(), 2u) << message;
  EXPECT_EQ(samples[1][0], raw<int32_t>({258}));
}

TEST(Idx, Hostile) {
  Folder folder;
  auto refused = [&](const std::string &bytes, const char *part) {
    folder.write("a", bytes);
    DatasetPtr dataset;
    EXPECT_FAILS(openIdx({{"a", folder.path("a")}}, dataset), part);
  };
  std::string huge = std::string("\0\0\x08\3", 4) + bigEndian(~0u) + bigEndian(~0u) + bigEndian(~0u);
  refused(huge, "overflows");
  std::string large = std::string("\0\0\x08\2", 4) + bigEndian(~0u) + bigEndian(64);
  refused(large, "bytes, 0 are there");
  refused(gzip(large), "at most"); // 256 GiB from some bytes: refused before memory is taken
  refused(gzip(mnist(3)).substr(0, 30), "truncated");
  refused(gzip(mnist(3) + "x"), "more data than its header says");
  refused(gzip(mnist(3)) + "x", "after the end");
  refused(mnist(3) + "x", "are there");
  refused(std::string("\0\0\x07\1", 4) + bigEndian(0), "unknown element type 7");
  refused("PK", "truncated");
}

TEST(Idx, Damaged) {
  Folder folder;
  std::string path = folder.path("a");
  Open open = [&](DatasetPtr &d) { return openIdx({{"a", path}}, d); };
  damage(path, mnist(20), open);
  damageChecked(path, gzip(mnist(20)), open);
}

TEST(Cifar, InterleavesPlanes) {
  Folder folder;
  auto record = [](int label, int first) {
    std::string bytes(1, static_cast<char>(label));
    for (int i = 0; i < 3072; ++i)
      bytes += static_cast<char>(first + i / 1024);
    return bytes;
  };
  folder.write("1.bin", record(3, 10) + record(4, 20));
  folder.write("2.bin", record(9, 30));
  std::string message;
  auto samples = samplesOf(
      [&](DatasetPtr &d) { return openCifar({folder.path("1.bin"), folder.path("2.bin")}, 10, d); }, message);
  ASSERT_EQ(samples.size(), 3u) << message;
  EXPECT_EQ(samples[2][0].substr(0, 6), "\x1e\x1f\x20\x1e\x1f\x20");
  EXPECT_EQ(samples[1][0].substr(3069), "\x14\x15\x16");
  EXPECT_EQ(samples[2][1], "\x09");

  folder.write("bad.bin", record(3, 10) + record(10, 20));
  DatasetPtr dataset;
  ASSERT_OK(openCifar({folder.path("bad.bin")}, 10, dataset));
  Loader loader;
  ASSERT_OK(Loader::create(std::move(dataset), {}, {}, loader));
  Batch batch;
  ASSERT_OK(loader.next(batch));
  EXPECT_FAILS(loader.next(batch), "bad.bin: record 1: label 10 of 10 classes");

  folder.write("short.bin", record(3, 10).substr(1));
  EXPECT_FAILS(openCifar({folder.path("short.bin")}, 10, dataset), "no whole number");
  folder.write("100.bin", std::string(1, '\7') + record(55, 1));
  ASSERT_OK(openCifar({folder.path("100.bin")}, 100, dataset));
  EXPECT_EQ(dataset->fields().size(), 3u);
}

// What the whole is for: MNIST files to batches.
TEST(Idx, ThroughTheLoader) {
  Folder folder;
  folder.write("images", mnist(40));
  DatasetPtr dataset;
  ASSERT_OK(openIdx({{"image", folder.path("images")}}, dataset));
  LoaderOptions options;
  options.batchSize = 16;
  options.shuffle = Shuffle::Full;
  options.workers = 2;
  size_t total = 0;
  for (const Given &given : batchesOf(std::move(dataset), {}, options))
    for (size_t i = 0; i < given.indices.size(); ++i, ++total)
      EXPECT_EQ(static_cast<uint8_t>(given.bytes[0][i * 6]), uint8_t(given.indices[i] * 6));
  EXPECT_EQ(total, 40u);
}

} // namespace
