// CIFAR's binary files: records of one label byte (CIFAR-100: coarse and fine) and three
// planes of 32 x 32, which decoding interleaves.

#include "runtime/data/Failure.h"
#include "runtime/tools/io/File.h"

#include <algorithm>

namespace dlc::data {

namespace {

constexpr int64_t kSide = 32, kChannels = 3, kPlane = kSide * kSide;
constexpr size_t kPixels = kPlane * kChannels;

class CifarDataset : public Dataset {
public:
  CifarDataset(const std::vector<std::string> &paths, int classes);

  uint64_t size() const override { return firstOf.back(); }
  std::vector<FieldSpec> fields() const override;
  std::string where(uint64_t index) const override;
  Status read(uint64_t index, Sample &sample) const override;
  Status decode(Sample &sample) const override;

private:
  size_t fileOf(uint64_t index) const {
    return std::ranges::upper_bound(firstOf, index) - firstOf.begin() - 1;
  }
  size_t recordBytes() const { return kPixels + labels; }

  std::vector<std::string> paths;
  std::vector<std::unique_ptr<cli::MappedFile>> files;
  std::vector<uint64_t> firstOf = {0}; // index of each file's first record, and the end
  int classes;
  size_t labels; // bytes in front of the pixels
};

CifarDataset::CifarDataset(const std::vector<std::string> &files_, int classes)
    : paths(files_), classes(classes), labels(classes == 100 ? 2 : 1) {
  if (classes != 10 && classes != 100)
    fail(DLC_USAGE, "CIFAR has 10 or 100 classes, not ", classes);
  for (const std::string &path : paths) {
    files.push_back(std::make_unique<cli::MappedFile>(path));
    size_t bytes = files.back()->bytes().size();
    if (bytes % recordBytes() != 0)
      fail(DLC_USAGE, path, ": ", bytes, " bytes are no whole number of CIFAR-", classes,
           " records of ", recordBytes());
    firstOf.push_back(firstOf.back() + bytes / recordBytes());
  }
}

std::vector<FieldSpec> CifarDataset::fields() const {
  std::vector<FieldSpec> specs = {{"image", DLC_U8, {kSide, kSide, kChannels}}, {"label", DLC_U8, {}}};
  if (labels == 2)
    specs.push_back({"coarse", DLC_U8, {}});
  return specs;
}

std::string CifarDataset::where(uint64_t index) const {
  size_t file = fileOf(index);
  return paths[file] + ": record " + std::to_string(index - firstOf[file]);
}

Status CifarDataset::read(uint64_t index, Sample &sample) const {
  size_t file = fileOf(index);
  const uint8_t *record = files[file]->bytes().data() + (index - firstOf[file]) * recordBytes();
  int fine = record[labels - 1];
  if (fine >= classes)
    return failure(DLC_USAGE, "label " + std::to_string(fine) + " of " + std::to_string(classes) + " classes");
  const int64_t planes[] = {kChannels, kSide, kSide};
  sample.values[0].borrow(DLC_U8, planes, record + labels);
  sample.values[1].borrow(DLC_U8, {}, record + labels - 1);
  if (labels == 2)
    sample.values[2].borrow(DLC_U8, {}, record);
  return Status();
}

Status CifarDataset::decode(Sample &sample) const {
  const int64_t dims[] = {kSide, kSide, kChannels};
  Value &image = sample.values[0];
  uint8_t *out = image.prepare(DLC_U8, dims);
  if (!out)
    return failure(DLC_OUT_OF_MEMORY, "no memory for an image");
  const uint8_t *planes = image.as<uint8_t>();
  for (int64_t i = 0; i < kPlane; ++i)
    for (int64_t c = 0; c < kChannels; ++c)
      out[i * kChannels + c] = planes[c * kPlane + i];
  image.commit();
  return Status();
}

} // namespace

Status openCifar(const std::vector<std::string> &files, int classes, DatasetPtr &dataset) {
  return guarded([&] { dataset = std::make_unique<CifarDataset>(files, classes); });
}

} // namespace dlc::data
