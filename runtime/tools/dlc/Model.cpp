#include "runtime/tools/dlc/Model.h"

#include "runtime/schema/CodeCache.h"
#include "runtime/tools/io/Error.h"

namespace dlc::cli {

std::string portText(const Port &port) {
  std::string text = std::string(dlc_type_name(port.type)) + "[";
  for (size_t i = 0; i < port.dimNames.size(); ++i)
    text += (i ? "," : "") + port.dimNames[i];
  return text + "]";
}

const Port *findPort(const std::vector<Port> &ports, const std::string &name) {
  for (const Port &port : ports)
    if (port.name == name)
      return &port;
  return nullptr;
}

std::string portList(const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += (text.empty() ? "" : ", ") + inQuotes(port.name) + " " + portText(port);
  return text.empty() ? "none" : text;
}

Model::Model(const std::string &path, int threads, const std::string &device) : path(path) {
  dlc_load_options options = {sizeof(options), threads, false, device.c_str(), nullptr};
  std::string cache = schema::CodeCache::defaultFolder();
  if (!cache.empty())
    options.cache_dir = cache.c_str();
  check(dlc_model_load(path.c_str(), &options, &handle));
  readPorts();
}

Model::Model(const Model &model, const char *entry) : path(model.path) {
  check(dlc_model_entry(model.handle, entry, &handle));
  readPorts();
}

void Model::readPorts() {
  for (size_t i = 0; i < dlc_model_input_count(handle); ++i) {
    Port port{dlc_model_input_name(handle, i), dlc_model_input_type(handle, i), {}, {}};
    port.dims.resize(DLC_MAX_RANK);
    port.dims.resize(dlc_model_input_dims(handle, i, port.dims.data()));
    for (size_t axis = 0; axis < port.dims.size(); ++axis)
      port.dimNames.push_back(dlc_model_input_dim_name(handle, i, static_cast<int>(axis)));
    inputs.push_back(std::move(port));
  }
  for (size_t i = 0; i < dlc_model_output_count(handle); ++i) {
    Port port{dlc_model_output_name(handle, i), dlc_model_output_type(handle, i), {}, {}};
    port.dims.resize(DLC_MAX_RANK);
    port.dims.resize(dlc_model_output_dims(handle, i, port.dims.data()));
    for (size_t axis = 0; axis < port.dims.size(); ++axis)
      port.dimNames.push_back(dlc_model_output_dim_name(handle, i, static_cast<int>(axis)));
    outputs.push_back(std::move(port));
  }
}

void Model::run(const std::vector<Tensor> &inputTensors, std::vector<Tensor> &outputTensors,
                std::vector<KernelTime> *profile) {
  std::vector<dlc_tensor *> in, out;
  for (const Tensor &tensor : inputTensors)
    in.push_back(tensor.get());
  outputTensors.resize(outputs.size());
  for (const Tensor &tensor : outputTensors)
    out.push_back(tensor.get());
  dlc_run_options options = {sizeof(options), nullptr, profile};
  if (profile)
    options.profile = [](void *user, const dlc_profile_entry *entry) {
      static_cast<std::vector<KernelTime> *>(user)->push_back(
          {entry->kernel, entry->nodes, entry->start_us, entry->duration_us, entry->flops});
    };
  check(dlc_model_run(handle, in.data(), in.size(), out.data(), out.size(), &options));
  for (size_t i = 0; i < out.size(); ++i)
    if (!outputTensors[i])
      outputTensors[i].reset(out[i]);
}

} // namespace dlc::cli
