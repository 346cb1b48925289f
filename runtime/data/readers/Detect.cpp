// Which reader a path wants, by the names of the files.

#include "runtime/data/Failure.h"
#include "runtime/tools/io/File.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace dlc::data {

namespace {

namespace fs = std::filesystem;

bool exists(const std::string &path) {
  std::error_code error;
  return fs::exists(path, error);
}
bool isFolder(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// The first of some names that is there; empty if none is.
std::string firstOf(const std::string &folder, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (std::string path = folder + "/" + name; exists(path))
      return path;
  return "";
}

std::vector<std::string> filesEndingIn(const std::string &folder, const char *extension) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (cli::hasExtension(entry->path().string(), extension))
      paths.push_back(entry->path().string());
  std::ranges::sort(paths);
  return paths;
}

bool openMnist(const std::string &folder, Split split, DatasetPtr &dataset) {
  bool train = split == Split::Train;
  std::string images = train ? firstOf(folder, {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz", "train-images.idx3-ubyte"})
                             : firstOf(folder, {"t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz", "t10k-images.idx3-ubyte"});
  std::string labels = train ? firstOf(folder, {"train-labels-idx1-ubyte", "train-labels-idx1-ubyte.gz", "train-labels.idx1-ubyte"})
                             : firstOf(folder, {"t10k-labels-idx1-ubyte", "t10k-labels-idx1-ubyte.gz", "t10k-labels.idx1-ubyte"});
  if (images.empty() || labels.empty())
    return false;
  require(openIdx({{"image", images}, {"label", labels}}, dataset));
  return true;
}

bool openCifarFolder(const std::string &folder, Split split, DatasetPtr &dataset) {
  std::vector<std::string> files;
  if (split == Split::Test)
    files.push_back(firstOf(folder, {"test_batch.bin"}));
  else
    for (const char *name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"})
      if (std::string path = firstOf(folder, {name}); !path.empty())
        files.push_back(path);
  if (!files.empty() && !files[0].empty()) {
    require(openCifar(files, 10, dataset));
    return true;
  }
  std::string hundred = exists(folder + "/fine_label_names.txt")
                            ? firstOf(folder, {split == Split::Test ? "test.bin" : "train.bin"})
                            : "";
  if (hundred.empty())
    return false;
  require(openCifar({hundred}, 100, dataset));
  return true;
}

void openFolder(const std::string &folder, Split split, DatasetPtr &dataset, std::vector<std::string> *classes) {
  if (openMnist(folder, split, dataset) || openCifarFolder(folder, split, dataset))
    return;
  std::string inner = split == Split::Train ? firstOf(folder, {"train"}) : firstOf(folder, {"test", "val"});
  bool hasParts = !firstOf(folder, {"train", "test", "val"}).empty();
  if (inner.empty() && (hasParts || split == Split::Test))
    fail(DLC_USAGE, folder, ": no ", split == Split::Train ? "training" : "test", " part; a folder \"train\", \"test\" or \"val\" would be one");
  if (inner.empty())
    inner = folder;
  if (std::vector<std::string> shards = filesEndingIn(inner, ".tar"); !shards.empty())
    return require(openTar(shards, {}, dataset));
  require(openImageFolder(inner, {}, dataset, classes));
}

/// The first of the usual names that the header has.
std::string labelColumn(const std::string &path, char separator) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  constexpr size_t longest = 1 << 20;
  for (char c; header.size() < longest && file.get(c) && c != '\n';)
    if (c != '"' && c != '\r' && c != ' ')
      header += c;
  header = separator + header + separator;
  for (const char *name : {"label", "class", "target", "y"})
    if (header.find(separator + std::string(name) + separator) != std::string::npos)
      return name;
  fail(DLC_USAGE, path, ": no column \"label\", \"class\", \"target\" or \"y\"; the header must name the columns");
}

void openTable(const std::string &path, char separator, DatasetPtr &dataset, std::vector<std::string> *classes) {
  CsvOptions options;
  options.separator = separator;
  options.label = labelColumn(path, separator);
  require(openCsv(path, options, dataset, classes));
}

} // namespace

Status openData(const std::string &path, Split split, DatasetPtr &dataset, std::vector<std::string> *classes) {
  return guarded([&] {
    if (classes)
      classes->clear();
    if (!exists(path))
      fail(DLC_USAGE, path, ": no such file or folder");
    if (isFolder(path))
      return openFolder(path, split, dataset, classes);
    if (split == Split::Test)
      fail(DLC_USAGE, path, ": a file has no test part; name a file for it");
    if (cli::hasExtension(path, ".npz"))
      return require(openNpz(path, dataset));
    if (cli::hasExtension(path, ".csv"))
      return openTable(path, ',', dataset, classes);
    if (cli::hasExtension(path, ".tsv"))
      return openTable(path, '\t', dataset, classes);
    if (cli::hasExtension(path, ".tar"))
      return require(openTar({path}, {}, dataset));
    fail(DLC_UNSUPPORTED, path, ": data of a kind that is not known by its name: .npz, .csv, .tsv and .tar are, and folders");
  });
}

} // namespace dlc::data
