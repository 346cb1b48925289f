#include "runtime/tools/dlc/Inputs.h"

#include "runtime/tools/dlc/Random.h"
#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Npy.h"
#include "runtime/tools/io/Protobuf.h"

#include <charconv>
#include <set>

namespace dlc::cli {

namespace {

std::pair<std::string, int64_t> parseDim(const std::string &text) {
  size_t equals = text.rfind('=');
  int64_t size = 0;
  const char *end = text.data() + text.size();
  if (equals != std::string::npos && equals > 0) {
    auto [stop, error] = std::from_chars(text.data() + equals + 1, end, size);
    if (error == std::errc() && stop == end && size >= 0)
      return {text.substr(0, equals), size};
  }
  fail(DLC_USAGE, "--dim expects NAME=SIZE, got ", inQuotes(text));
}

/// Collects a tensor per input and refuses what does not belong.
class Gatherer {
public:
  explicit Gatherer(const Model &model) : model(model), tensors(model.inputs.size()) {}

  /// To the input of that name, or the first without a value if it is empty.
  void place(const std::string &name, Tensor tensor, const std::string &from) {
    size_t index = slot(name, from);
    const Port &port = model.inputs[index];
    tensor = fromNumpyCarrier(std::move(tensor), port.type, from);
    checkFits(*tensor, port, from);
    tensors[index] = std::move(tensor);
  }

  size_t slot(const std::string &name, const std::string &from) const {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (name.empty() ? !tensors[i] : model.inputs[i].name == name) {
        if (tensors[i])
          fail(DLC_USAGE, from, ": input ", inQuotes(name), " has a value already");
        return i;
      }
    if (name.empty())
      fail(DLC_USAGE, from, ": all inputs have values already");
    fail(DLC_USAGE, from, ": the model has no input ", inQuotes(name), "; it has ",
         portList(model.inputs));
  }

  static void checkFits(const dlc_tensor &tensor, const Port &port, const std::string &from) {
    std::span<const int64_t> dims = dimsOf(tensor);
    bool fits = dlc_tensor_type(&tensor) == port.type && dims.size() == port.dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i)
      fits = port.dims[i] < 0 || port.dims[i] == dims[i];
    if (!fits)
      fail(DLC_USAGE, from, ": input ", inQuotes(port.name), " is ", portText(port),
           ", the file has ", typeText(tensor));
  }

  const Model &model;
  std::vector<Tensor> tensors;
};

void placeFile(Gatherer &gatherer, const std::string &text) {
  auto [name, path] = splitNamed(text, gatherer.model.inputs);
  NamedTensors arrays = readArrays(path);
  if (!name.empty() && arrays.size() != 1)
    fail(DLC_USAGE, path, ": ", arrays.size(), " arrays for input ", inQuotes(name));
  bool named = hasExtension(path, ".npz");
  for (NamedTensor &array : arrays) {
    std::string target = name;
    if (target.empty() && (named || findPort(gatherer.model.inputs, array.name)))
      target = array.name;
    gatherer.place(target, std::move(array.tensor), path);
  }
}

void placeImage(Gatherer &gatherer, const std::string &text, const InputOptions &options) {
  auto [name, path] = splitNamed(text, gatherer.model.inputs);
  const Port &port = gatherer.model.inputs[gatherer.slot(name, path)];
  Dims dims = port.dims;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (auto given = options.dims.find(port.dimNames[axis]);
        dims[axis] < 0 && given != options.dims.end())
      dims[axis] = given->second;
  Tensor tensor = imageTensor(readImage(path), {port.type, dims, port.name}, options.image);
  gatherer.place(port.name, std::move(tensor), path);
}

/// A --dim that names nothing would otherwise leave its size at 1, unnoticed.
void checkDimNames(const Model &model, const std::map<std::string, int64_t> &dims) {
  std::set<std::string> known;
  for (const Port &port : model.inputs)
    for (size_t axis = 0; axis < port.dims.size(); ++axis)
      if (port.dims[axis] < 0)
        known.insert(port.dimNames[axis]);
  for (const auto &[name, size] : dims)
    if (!known.contains(name))
      fail(DLC_USAGE, "--dim ", name, "=", size, ": no input has that symbolic size; inputs are ",
           portList(model.inputs));
}

} // namespace

void addInputOptions(CLI::App &command, InputOptions &options) {
  command.add_option("-i,--inputs", options.files, "FILE or NAME=FILE: .npz, .npy, ONNX .pb")
      ->type_name("FILE")->allow_extra_args(false);
  command.add_option("--image", options.images, "FILE or NAME=FILE: PNG or JPEG, resized to fit")
      ->type_name("FILE")->allow_extra_args(false);
  command.add_option("--mean", options.image.mean, "of pixels in 0..1: one, or per channel")
      ->delimiter(',')->allow_extra_args(false)->type_name("X,..");
  command.add_option("--std", options.image.deviation, "of pixels in 0..1: one, or per channel")
      ->delimiter(',')->allow_extra_args(false)->type_name("X,..")->check(CLI::PositiveNumber);
  command.add_flag("--bgr", options.image.bgr, "blue first");
  command.add_option("--random", options.seed, "random values for all other inputs")
      ->type_name("SEED");
  addDimOption(command, options.dims, "a symbolic size of random inputs (default 1)");
}

void addDimOption(CLI::App &command, std::map<std::string, int64_t> &dims, const std::string &help) {
  command.add_option_function<std::vector<std::string>>(
      "--dim",
      [&dims](const std::vector<std::string> &texts) {
        for (const std::string &text : texts)
          dims.insert_or_assign(parseDim(text).first, parseDim(text).second);
      },
      help)
      ->type_name("N=SIZE")->expected(1)->take_all();
}

NamedTensors readArrays(const std::string &path) {
  if (hasExtension(path, ".npz"))
    return readNpz(path);
  NamedTensors arrays;
  if (hasExtension(path, ".npy")) {
    FileSource source(path);
    arrays.push_back({"", readNpy(source)});
  } else if (hasExtension(path, ".pb")) {
    arrays.push_back(readTensorProto(path));
  } else {
    fail(DLC_USAGE, path, ": .npz, .npy and .pb files are read");
  }
  return arrays;
}

std::pair<std::string, std::string> splitNamed(const std::string &text,
                                               const std::vector<Port> &ports) {
  std::string name;
  for (const Port &port : ports) // the longest, for names with '=' in them
    if (port.name.size() > name.size() && text.starts_with(port.name + "="))
      name = port.name;
  return {name, name.empty() ? text : text.substr(name.size() + 1)};
}

std::vector<Tensor> gatherInputs(const Model &model, const InputOptions &options) {
  checkDimNames(model, options.dims);
  Gatherer gatherer(model);
  for (const std::string &text : options.files)
    placeFile(gatherer, text);
  for (const std::string &text : options.images)
    placeImage(gatherer, text, options);
  for (size_t i = 0; i < gatherer.tensors.size(); ++i) {
    if (gatherer.tensors[i])
      continue;
    const Port &port = model.inputs[i];
    if (!options.seed)
      fail(DLC_USAGE, model.path, ": no value for input ", inQuotes(port.name), " ",
           portText(port), "; give --inputs FILE, --image FILE or --random SEED");
    gatherer.tensors[i] = randomTensor(port, options.dims, *options.seed + i);
  }
  return std::move(gatherer.tensors);
}

} // namespace dlc::cli
