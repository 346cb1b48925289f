#include "runtime/tools/dlc/train/Checkpoint.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/OnnxWeights.h"
#include "runtime/tools/io/Safetensors.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace dlc::cli {

namespace fs = std::filesystem;

namespace {

const NamedTensor *findTensor(const Safetensors &file, std::string_view name) {
  for (const NamedTensor &tensor : file.tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

int64_t number(const Safetensors &file, const char *key, const std::string &path) {
  auto found = file.metadata.find(key);
  int64_t value = -1;
  if (found != file.metadata.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  if (value < 0)
    fail(DLC_USAGE, path, ": no checkpoint of `dlc train`: its metadata has no ", inQuotes(key));
  return value;
}

} // namespace

void saveCheckpoint(const std::string &path, const Model &model, const Position &position) {
  Safetensors file;
  for (size_t i = 0; i < dlc_model_state_count(model.handle); ++i) {
    dlc_tensor *tensor = nullptr;
    const char *name = dlc_model_state_name(model.handle, i);
    check(dlc_model_read_state(model.handle, name, &tensor));
    file.tensors.push_back({name, Tensor(tensor)});
  }
  file.metadata = position.notes;
  file.metadata["steps"] = std::to_string(position.steps);
  file.metadata["updates"] = std::to_string(position.updates);
  writeSafetensors(path, file);
}

void keepCheckpoint(const std::string &path, int64_t steps, int64_t keep) {
  constexpr size_t digits = 9;
  fs::path whole(path), folder = whole.parent_path().empty() ? "." : whole.parent_path();
  std::string stem = whole.stem().string() + "-", extension = whole.extension().string();
  std::string number = std::to_string(steps);
  fs::path numbered = folder / (stem + std::string(digits - std::min(digits, number.size()), '0') + number + extension);
  std::error_code error;
  fs::remove(numbered, error);
  fs::create_hard_link(whole, numbered, error);
  if (error) // a file system without links
    fs::copy_file(whole, numbered, fs::copy_options::overwrite_existing, error);
  if (error)
    fail(DLC_USAGE, numbered.string(), ": cannot write: ", error.message());
  std::vector<fs::path> kept;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    bool isOurs = name.size() == stem.size() + digits + extension.size() && name.starts_with(stem) &&
                  name.ends_with(extension) &&
                  name.find_first_not_of("0123456789", stem.size()) == stem.size() + digits;
    if (isOurs)
      kept.push_back(entry->path());
  }
  std::ranges::sort(kept);
  for (size_t i = 0; i + static_cast<size_t>(keep) < kept.size(); ++i)
    fs::remove(kept[i], error);
}

Position resumeCheckpoint(const std::string &path, const Model &model) {
  Safetensors file = readSafetensors(path);
  Position position = {number(file, "steps", path), number(file, "updates", path), file.metadata};
  for (size_t i = 0; i < dlc_model_state_count(model.handle); ++i) {
    const char *name = dlc_model_state_name(model.handle, i);
    const NamedTensor *tensor = findTensor(file, name);
    if (!tensor)
      fail(DLC_USAGE, path, ": has no ", inQuotes(name), ", which this training run keeps; was it "
           "made with another model, optimizer or --accumulate?");
    check(dlc_model_write_state(model.handle, name, tensor->tensor.get()), path);
  }
  return position;
}

void exportModel(const std::string &from, const std::string &to, const Model &model) {
  NamedTensors weights;
  std::map<std::string, const dlc_tensor *> byName;
  for (size_t i = 0; i < dlc_model_state_count(model.handle); ++i) {
    std::string_view role = dlc_model_state_role(model.handle, i);
    if (role != "parameter" && role != "statistic" && role != "average")
      continue;
    std::string name = dlc_model_state_name(model.handle, i), of = name;
    if (role == "average")
      of.resize(of.size() - std::string_view(".average").size());
    else if (byName.contains(name)) // its average came first
      continue;
    dlc_tensor *tensor = nullptr;
    check(dlc_model_read_state(model.handle, name.c_str(), &tensor));
    weights.push_back({name, Tensor(tensor)});
    byName[of] = tensor;
  }
  exportOnnx(from, to, byName);
}

void loadParameters(const std::string &path, const Model &model) {
  Safetensors file = readSafetensors(path);
  size_t found = 0;
  for (size_t i = 0; i < dlc_model_state_count(model.handle); ++i) {
    std::string_view role = dlc_model_state_role(model.handle, i);
    const char *name = dlc_model_state_name(model.handle, i);
    const NamedTensor *tensor = findTensor(file, name);
    if (!tensor || (role != "parameter" && role != "statistic"))
      continue;
    check(dlc_model_write_state(model.handle, name, tensor->tensor.get()), path);
    ++found;
  }
  if (found == 0)
    fail(DLC_USAGE, path, ": holds no weight of this model");
}

} // namespace dlc::cli
