#include "runtime/tools/dlc/train/Checkpoint.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/OnnxWeights.h"
#include "runtime/tools/io/Safetensors.h"

#include <charconv>
#include <string_view>

namespace dlc::cli {

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

void saveCheckpoint(const std::string &path, const Model &model, const Position &position,
                    std::map<std::string, std::string> notes) {
  Safetensors file;
  for (size_t i = 0; i < dlc_model_state_count(model.handle); ++i) {
    dlc_tensor *tensor = nullptr;
    const char *name = dlc_model_state_name(model.handle, i);
    check(dlc_model_read_state(model.handle, name, &tensor));
    file.tensors.push_back({name, Tensor(tensor)});
  }
  file.metadata = std::move(notes);
  file.metadata["steps"] = std::to_string(position.steps);
  file.metadata["updates"] = std::to_string(position.updates);
  writeSafetensors(path, file);
}

Position resumeCheckpoint(const std::string &path, const Model &model) {
  Safetensors file = readSafetensors(path);
  Position position = {number(file, "steps", path), number(file, "updates", path)};
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
    if (role != "parameter" && role != "statistic")
      continue;
    const char *name = dlc_model_state_name(model.handle, i);
    dlc_tensor *tensor = nullptr;
    check(dlc_model_read_state(model.handle, name, &tensor));
    weights.push_back({name, Tensor(tensor)});
    byName[name] = tensor;
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
