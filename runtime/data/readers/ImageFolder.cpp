// Pictures sorted into folders, one for each class.

#include "runtime/data/readers/Record.h"
#include "runtime/tools/io/File.h"

#include <algorithm>
#include <filesystem>

namespace dlc::data {

namespace {

namespace fs = std::filesystem;
constexpr uint64_t kLargestFile = uint64_t(1) << 30;

struct Picture {
  std::string path;
  uint32_t label;
};

class ImageFolder : public Dataset {
public:
  ImageFolder(std::vector<Picture> pictures, const ImageFolderOptions &options)
      : pictures(std::move(pictures)), options(options) {}

  uint64_t size() const override { return pictures.size(); }
  std::vector<FieldSpec> fields() const override {
    return {{"image", DLC_U8, {-1, -1, 3}}, {"label", DLC_I64, {}}};
  }
  std::string where(uint64_t index) const override { return pictures[index].path; }
  Status read(uint64_t index, Sample &sample) const override {
    return guarded([&] {
      readFile(pictures[index].path, sample.values[0]);
      setInteger(sample.values[1], pictures[index].label);
    });
  }
  Status decode(Sample &sample) const override {
    return guarded([&] {
      Value &image = sample.values[0];
      decodeImageInto(image, image.bytes(), "image", options.smallestSide);
    });
  }

private:
  static void readFile(const std::string &path, Value &value) {
    cli::FileSource file(path);
    if (file.sizeBytes > kLargestFile)
      fail(DLC_USAGE, file.sizeBytes, " bytes; pictures of up to ", kLargestFile, " are read");
    const int64_t dims[] = {static_cast<int64_t>(file.sizeBytes)};
    uint8_t *bytes = value.prepare(DLC_U8, dims);
    if (!bytes)
      fail(DLC_OUT_OF_MEMORY, "no memory for ", file.sizeBytes, " bytes");
    file.read(bytes, file.sizeBytes);
    value.commit();
  }

  std::vector<Picture> pictures;
  ImageFolderOptions options;
};

/// Names within a folder, sorted: the order must not depend on the file system.
std::vector<std::string> namesIn(const std::string &path, bool folders) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(path, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    std::error_code unreadable; // a broken link is neither file nor folder
    bool wanted = folders ? entry->is_directory(unreadable)
                          : cli::hasExtension(name, ".png") || cli::hasExtension(name, ".jpg") ||
                                cli::hasExtension(name, ".jpeg");
    if (wanted && name[0] != '.')
      names.push_back(std::move(name));
  }
  if (error)
    fail(DLC_USAGE, path, ": cannot list the folder: ", error.message());
  std::ranges::sort(names);
  return names;
}

} // namespace

Status openImageFolder(const std::string &root, const ImageFolderOptions &options, DatasetPtr &dataset,
                       std::vector<std::string> *classes) {
  return guarded([&] {
    std::vector<std::string> names = namesIn(root, true);
    std::vector<Picture> pictures;
    for (size_t label = 0; label < names.size(); ++label)
      for (const std::string &name : namesIn(root + "/" + names[label], false))
        pictures.push_back({root + "/" + names[label] + "/" + name, static_cast<uint32_t>(label)});
    if (pictures.empty())
      fail(DLC_USAGE, root, ": no pictures; they are looked for as class/name.png, .jpg or .jpeg");
    if (classes)
      *classes = std::move(names);
    dataset = std::make_unique<ImageFolder>(std::move(pictures), options);
  });
}

} // namespace dlc::data
