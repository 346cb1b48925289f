#include "runtime/tools/dlc/train/Batches.h"

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Npy.h"

#include <cstring>

namespace dlc::cli {

namespace {

std::string arrayNames(const NamedTensors &arrays) {
  std::string names;
  for (const NamedTensor &array : arrays)
    names += (names.empty() ? "" : ", ") + inQuotes(array.name);
  return names;
}

Tensor convert(const dlc_tensor &from, dlc_type type, const std::string &what) {
  auto dims = dimsOf(from);
  Tensor to = makeTensor(type, Dims(dims.begin(), dims.end()), what);
  for (int64_t i = 0; i < elementCount(from); ++i)
    setElement(*to, i, elementValue(from, i));
  return to;
}

} // namespace

Batches::Batches(const std::string &path) : path(path), arrays(readNpz(path)) {
  for (const NamedTensor &array : arrays) {
    auto dims = dimsOf(*array.tensor);
    if (dims.empty())
      fail(DLC_USAGE, path, ": array ", inQuotes(array.name), " has no axis for the batches");
    if (batchCount != 0 && dims[0] != batchCount)
      fail(DLC_USAGE, path, ": array ", inQuotes(array.name), " holds ", dims[0],
           " batches, others hold ", batchCount);
    batchCount = dims[0];
  }
  if (batchCount == 0)
    fail(DLC_USAGE, path, ": there are no batches in it");
}

const NamedTensor *Batches::find(const std::string &name) const {
  for (const NamedTensor &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

bool Batches::hasFloatTargets() const {
  const NamedTensor *y = find("y");
  return y && isFloat(dlc_tensor_type(y->tensor.get()));
}

std::vector<std::string> Batches::shapeFlags() const {
  std::vector<std::string> flags;
  for (const NamedTensor &array : arrays) {
    if (array.name == "y")
      continue;
    std::string sizes;
    for (int64_t size : dimsOf(*array.tensor).subspan(1))
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    if (sizes.empty())
      continue;
    flags.push_back("--shape=" + array.name + "=" + sizes);
    if (array.name == "x") // the only input, whatever it is called
      flags.push_back("--shape=" + sizes);
  }
  return flags;
}

void Batches::bind(const std::vector<Port> &ports, const std::string &target) {
  size_t modelInputs = 0;
  for (const Port &port : ports)
    modelInputs += port.name != target && port.name != "lr";
  bound.clear();
  for (const Port &port : ports) {
    if (port.name == "lr")
      continue;
    const NamedTensor *array = find(port.name);
    if (port.name == target)
      array = find("y");
    else if (!array && modelInputs == 1)
      array = find("x");
    if (!array)
      fail(DLC_USAGE, path, ": no array for the input ", inQuotes(port.name), " ", portText(port),
           "; there are ", arrayNames(arrays));
    const dlc_tensor *tensor = array->tensor.get();
    if (dlc_tensor_rank(tensor) != static_cast<int>(port.dims.size()) + 1)
      fail(DLC_USAGE, path, ": array ", inQuotes(array->name), " is ", typeText(*tensor),
           "; one row for each batch of ", portText(port), " is expected");
    if (dlc_tensor_type(tensor) != port.type)
      tensor = converted.emplace_back(convert(*tensor, port.type, path)).get();
    bound.push_back({port.name, tensor});
  }
}

Tensor Batches::tensor(const std::string &port) const {
  for (const Bound &b : bound) {
    if (b.port != port)
      continue;
    auto dims = dimsOf(*b.array).subspan(1);
    dlc_type type = dlc_tensor_type(b.array);
    int64_t bytes = dlc_type_size_bytes(type, dims.data(), static_cast<int>(dims.size()));
    char *data = static_cast<char *>(dlc_tensor_data(b.array)) + current * bytes;
    dlc_tensor *wrapped = nullptr;
    // Kernels expect aligned memory, which rows of an array may not be.
    if (reinterpret_cast<uintptr_t>(data) % 64 != 0) {
      Tensor copy = makeTensor(type, Dims(dims.begin(), dims.end()), path);
      std::memcpy(dlc_tensor_data(copy.get()), data, static_cast<size_t>(bytes));
      return copy;
    }
    check(dlc_tensor_wrap(type, dims.data(), static_cast<int>(dims.size()), data,
                          static_cast<size_t>(bytes), &wrapped));
    return Tensor(wrapped);
  }
  fail(DLC_INTERNAL, "no batch for the input ", inQuotes(port));
}

int64_t Batches::samples() const {
  auto dims = dimsOf(*bound.front().array);
  return dims.size() > 1 ? dims[1] : 1;
}

} // namespace dlc::cli
