// Pictures in folders and in tar shards.

#include "test/data/DataTest.h"
#include "test/data/Pictures.h"

#include <cstdio>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

std::string member(const std::string &name, const std::string &bytes, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", bytes.size());
  header.replace(124, 11, size);
  header.replace(156, 1, 1, type);
  header.replace(257, 5, "ustar");
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (unsigned char c : header)
    sum += c;
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  header.replace(148, 7, std::string(checksum, 7));
  return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

const std::string kEnd(1024, '\0');

TEST(ImageFolder, ClassesAndOrder) {
  Folder folder;
  folder.write("data/dog/b.jpg", jpeg(9, 7));
  folder.write("data/cat/z.png", png(5, 4));
  folder.write("data/cat/a.PNG", png(3, 2, 50));
  folder.write("data/cat/notes.txt", "no picture");
  DatasetPtr dataset;
  std::vector<std::string> classes;
  ASSERT_OK(openImageFolder(folder.path("data"), {}, dataset, &classes));
  EXPECT_EQ(classes, (std::vector<std::string>{"cat", "dog"}));
  std::string message;
  auto samples = samplesOf([&](DatasetPtr &d) { return openImageFolder(folder.path("data"), {}, d); }, message);
  ASSERT_EQ(samples.size(), 3u) << message;
  std::vector<uint8_t> first = gradient(3, 2, 50);
  EXPECT_EQ(samples[0][0], std::string(first.begin(), first.end()));
  EXPECT_EQ(samples[1][0].size(), 5u * 4 * 3);
  EXPECT_EQ(samples[2][0].size(), 9u * 7 * 3);
  EXPECT_EQ(samples[2][1], raw<int64_t>({1}));
  EXPECT_NEAR(uint8_t(samples[2][0][0]), 0, 6); // JPEG is not exact
  EXPECT_FAILS(openImageFolder(folder.path("data/cat"), {}, dataset), "no pictures");
  EXPECT_FAILS(openImageFolder(folder.path("none"), {}, dataset), "cannot list");
}

TEST(ImageFolder, LargeJpegsMayBeDecodedSmaller) {
  Folder folder;
  folder.write("data/a/x.jpg", jpeg(200, 120));
  ImageFolderOptions options;
  options.smallestSide = 30;
  DatasetPtr dataset;
  ASSERT_OK(openImageFolder(folder.path("data"), options, dataset));
  Sample sample;
  sample.values.resize(2);
  ASSERT_OK(dataset->read(0, sample));
  ASSERT_OK(dataset->decode(sample));
  EXPECT_EQ(sample.values[0].dims()[0], 30);
  EXPECT_EQ(sample.values[0].dims()[1], 50);
}

TEST(ImageFolder, NamesTheBrokenPicture) {
  Folder folder;
  for (int i = 0; i < 6; ++i)
    folder.write("data/a/" + std::to_string(i) + ".png", i == 4 ? png(4, 4).substr(0, 60) : png(4, 4));
  Transforms transforms;
  transforms.push_back(resize("image", 4, 4));
  LoaderOptions options;
  options.workers = 2;
  Loader loader;
  DatasetPtr dataset;
  ASSERT_OK(openImageFolder(folder.path("data"), {}, dataset));
  ASSERT_OK(Loader::create(std::move(dataset), std::move(transforms), options, loader));
  EXPECT_EQ(drain(loader, 4).size(), 4u);
  Batch batch;
  EXPECT_FAILS(loader.next(batch), "data/a/4.png: image: not a readable PNG");
}

TEST(ImageFolder, VaryingSizesNeedATransform) {
  Folder folder;
  folder.write("data/a/1.png", png(4, 4));
  DatasetPtr dataset;
  ASSERT_OK(openImageFolder(folder.path("data"), {}, dataset));
  Loader loader;
  EXPECT_FAILS(Loader::create(std::move(dataset), {}, {}, loader), "field 'image' u8[-1,-1,3] differs in size");
}

TEST(ImageFolder, AugmentedAlikeByAnyNumberOfWorkers) {
  Folder folder;
  for (int i = 0; i < 12; ++i)
    folder.write("data/a/" + std::to_string(i) + ".jpg", jpeg(20 + i, 30 - i, i));
  std::vector<Given> expected;
  for (int workers = 0; workers <= 8; ++workers) {
    DatasetPtr dataset;
    ASSERT_OK(openImageFolder(folder.path("data"), {}, dataset));
    Transforms transforms;
    transforms.push_back(resizeShorter("image", 18));
    transforms.push_back(randomResizedCrop("image", 12, 12));
    transforms.push_back(randomFlip("image"));
    transforms.push_back(colorJitter("image", {0.4, 0.4, 0.4, 0.1}));
    transforms.push_back(normalize("image", {0.5}, {0.25}));
    LoaderOptions options;
    options.batchSize = 5;
    options.epochs = 3;
    options.shuffle = Shuffle::Full;
    options.workers = workers;
    options.readers = workers % 3 == 2;
    options.cacheBytes = workers % 2 ? 1 << 20 : 0;
    std::vector<Given> batches = batchesOf(std::move(dataset), std::move(transforms), options);
    ASSERT_EQ(batches.size(), 9u);
    if (expected.empty())
      expected = batches;
    EXPECT_EQ(batches, expected) << workers;
  }
  EXPECT_NE(expected[0].bytes, expected[3].bytes); // epochs differ
}

TEST(ImageFolder, HostilePictures) {
  Folder folder;
  std::string path = folder.path("data/a/p.png");
  Open open = [&](DatasetPtr &d) { return openImageFolder(folder.path("data"), {}, d); };
  folder.write("data/a/p.png", "x");
  damage(path, png(12, 9), open);
  damage(path, jpeg(33, 17), open); // told apart by its bytes, not its name
  // A header that claims 16384 x 16384 pixels.
  std::string huge = png(12, 9);
  huge.replace(16, 8, bigEndian(16384) + bigEndian(16384));
  folder.write("data/a/p.png", huge);
  std::string message;
  samplesOf(open, message);
  EXPECT_NE(message.find("p.png: image: "), std::string::npos) << message;
}

TEST(Tar, GroupsFilesIntoSamples) {
  Folder folder;
  std::string longName(150, 'n');
  folder.write("0.tar", member("./", "", '5') + member("d/001.cls", "7\n") + member("d/001.png", png(3, 2)) +
                            member("d/001.json", "{}") + member("d/002.jpg", jpeg(8, 8)) + member("d/002.cls", "-1") + kEnd);
  folder.write("1.tar", member("././@LongLink", longName + ".png", 'L') + member("short", png(2, 2)) +
                            member("pax", "23 path=" + std::string("x/y/z.cls") + "\n" + std::string(3, '\0'), 'x') + kEnd);
  std::string first = folder.path("0.tar"), message;
  auto samples = samplesOf([&](DatasetPtr &d) { return openTar({first}, {}, d); }, message);
  ASSERT_EQ(samples.size(), 2u) << message;
  std::vector<uint8_t> pixels = gradient(3, 2, 0);
  EXPECT_EQ(samples[0][0], std::string(pixels.begin(), pixels.end()));
  EXPECT_EQ(samples[0][1], raw<int64_t>({7}));
  EXPECT_EQ(samples[1][1], raw<int64_t>({-1}));
  DatasetPtr dataset;
  EXPECT_FAILS(openTar({folder.path("1.tar")}, {}, dataset), "broken pax header");
}

TEST(Tar, LongNamesAndMissingParts) {
  Folder folder;
  std::string longName = std::string(150, 'n') + ".png", path = "path=x/y/z.png\n";
  std::string pax = std::to_string(path.size() + 3) + " " + path;
  folder.write("1.tar", member("././@LongLink", longName, 'L') + member("short", png(2, 2)) +
                            member("header", pax, 'x') + member("other", png(2, 2)) + kEnd);
  DatasetPtr dataset;
  ASSERT_OK(openTar({folder.path("1.tar")}, {{"image", "png", RecordField::Image, {}}}, dataset));
  ASSERT_EQ(dataset->size(), 2u);
  EXPECT_NE(dataset->where(0).find("'nnn"), std::string::npos);
  EXPECT_NE(dataset->where(1).find("1.tar: sample 'x/y/z' (record 1)"), std::string::npos);
  ASSERT_OK(openTar({folder.path("1.tar")}, {}, dataset));
  Sample sample;
  sample.values.resize(2);
  EXPECT_FAILS(dataset->read(1, sample), "no file with the ending cls for field 'label'");
}

TEST(Tar, Refusals) {
  Folder folder;
  auto refused = [&](const std::string &bytes, const char *part) {
    folder.write("a.tar", bytes);
    DatasetPtr dataset;
    EXPECT_FAILS(openTar({folder.path("a.tar")}, {}, dataset), part);
  };
  refused("\x1f\x8b and so on", "compressed");
  refused(kEnd, "no samples");
  refused(member("1.cls", "5") + member("1.cls", "6"), "two files for field 'label'");
  std::string broken = member("1.cls", "5");
  broken[3] ^= 1;
  refused(broken, "wrong header checksum at byte 0");
  refused(member("1.cls", std::string(600, '5')).substr(0, 1000), "claims 600 bytes, 488 are there");
  DatasetPtr dataset;
  EXPECT_FAILS(openTar({}, {}, dataset), "no samples");
}

TEST(Tar, Damaged) {
  Folder folder;
  std::string path = folder.path("a.tar"), bytes;
  for (int i = 0; i < 3; ++i)
    bytes += member(std::to_string(i) + ".png", png(3, 3, i)) + member(std::to_string(i) + ".cls", std::to_string(i));
  damage(path, bytes + kEnd, [&](DatasetPtr &d) { return openTar({path}, {}, d); });
}

} // namespace
