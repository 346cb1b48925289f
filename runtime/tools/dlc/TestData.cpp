#include "runtime/tools/dlc/TestData.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Protobuf.h"

#include <algorithm>
#include <filesystem>

namespace dlc::cli {

namespace {

namespace fs = std::filesystem;

/// <stem>_0.pb, <stem>_1.pb, ... without gaps.
NamedTensors readSeries(const std::string &folder, const std::string &stem) {
  NamedTensors tensors;
  auto path = [&](size_t index) {
    return folder + "/" + stem + "_" + std::to_string(index) + ".pb";
  };
  while (fs::exists(path(tensors.size())))
    tensors.push_back(readTensorProto(path(tensors.size())));
  return tensors;
}

/// The suite counts by position. Files for fewer or more tensors than the
/// model has are taken by name, where every name is known.
std::vector<Tensor> inOrder(NamedTensors files, const std::vector<Port> &ports,
                            const std::string &what) {
  std::vector<Tensor> tensors(ports.size());
  if (files.size() == ports.size()) {
    for (size_t i = 0; i < files.size(); ++i)
      tensors[i] = std::move(files[i].tensor);
    return tensors;
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    for (NamedTensor &file : files)
      if (file.name == ports[i].name && file.tensor)
        tensors[i] = std::move(file.tensor);
    if (!tensors[i])
      fail(DLC_USAGE, what, ": ", files.size(), " files for ", ports.size(),
           " tensors of the model, and none is named ", inQuotes(ports[i].name));
  }
  return tensors;
}

bool hasData(const fs::path &folder) {
  return fs::exists(folder / "input_0.pb") || fs::exists(folder / "output_0.pb");
}

} // namespace

std::vector<std::string> testDataSets(const std::string &folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    fail(DLC_USAGE, folder, ": not a folder");
  if (hasData(folder))
    return {folder};
  std::vector<std::string> sets;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("test_data_set_") && hasData(entry.path()))
      sets.push_back(entry.path().string());
  if (sets.empty())
    fail(DLC_USAGE, folder, ": neither input_0.pb nor output_0.pb is there or in a "
                            "test_data_set_* folder");
  std::ranges::sort(sets);
  return sets;
}

std::vector<Comparison> runTestData(Model &model, const std::string &folder,
                                    const Tolerance &tolerance) {
  std::vector<Tensor> inputs = inOrder(readSeries(folder, "input"), model.inputs, folder + "/input_*.pb");
  std::vector<Tensor> expected =
      inOrder(readSeries(folder, "output"), model.outputs, folder + "/output_*.pb");
  std::vector<Tensor> outputs;
  model.run(inputs, outputs);
  std::vector<Comparison> results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results.push_back(compareTensors(model.outputs[i].name, *expected[i], *outputs[i], tolerance));
  return results;
}

} // namespace dlc::cli
