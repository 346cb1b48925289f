#include "runtime/tools/dlc/train/Stream.h"

#include "runtime/tools/dlc/train/TransformList.h"
#include "runtime/tools/io/Error.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace dlc::cli {

namespace {

const std::map<std::string, data::OnBroken> kOnBroken = {{"fail", data::OnBroken::Fail},
                                                         {"replace", data::OnBroken::Replace}};
const std::map<std::string, dlc_type> kTokenTypes = {{"u8", DLC_U8}, {"u16", DLC_U16}, {"u32", DLC_U32}};

/// The field that a loss compares with, by the names that readers give it; else the last.
std::string targetOf(const std::vector<data::FieldSpec> &fields) {
  for (const char *name : {"y", "label", "target", "class"})
    if (std::ranges::find(fields, name, &data::FieldSpec::name) != fields.end())
      return name;
  return fields.back().name;
}

uint64_t numberOr(const std::map<std::string, std::string> &notes, const char *key, uint64_t other) {
  auto found = notes.find(key);
  uint64_t value = other;
  if (found != notes.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

} // namespace

Stream::Stream(const DataOptions &options, const std::string &path, data::Split split, uint64_t seed)
    : options(options), path(path), isTraining(split == data::Split::Train), seed(seed) {
  data::DatasetPtr dataset = open();
  datasetSize = dataset->size();
  if (datasetSize < static_cast<uint64_t>(isTraining ? options.batchSize : 1))
    fail(DLC_USAGE, path, ": ", datasetSize, " samples, fewer than a batch (--batch-size ", options.batchSize, ")");
  fields = dataset->fields();
  targetField = targetOf(fields);
  makeTransforms(options.transforms, options.channelsLast, targetField, fields);
}

data::DatasetPtr Stream::open() const {
  data::DatasetPtr dataset;
  if (options.tokenLength > 0) {
    check(data::openTokens(path, {kTokenTypes.at(options.tokenType), options.tokenLength, options.tokenStride}, dataset)
              .release());
    return dataset;
  }
  // A file has no parts.
  bool isFolder = std::filesystem::is_directory(path);
  check(data::openData(path, isTraining || !isFolder ? data::Split::Train : data::Split::Test, dataset).release());
  return dataset;
}

data::LoaderOptions Stream::loaderOptions() const {
  data::LoaderOptions loading;
  loading.batchSize = options.batchSize;
  loading.dropLast = isTraining;
  loading.epochs = 0;
  loading.seed = seed;
  loading.shuffle = isTraining && options.shuffle ? data::Shuffle::Full : data::Shuffle::None;
  loading.onBroken = kOnBroken.at(options.onBroken);
  loading.workers = options.workers;
  loading.readers = options.readers;
  loading.prefetch = options.prefetch;
  if (isTraining) {
    loading.cacheBytes = static_cast<size_t>(options.cacheMegabytes) << 20;
    loading.cacheFile = options.cacheFile;
    loading.cacheFileBytes = static_cast<size_t>(options.cacheFileMegabytes) << 20;
  }
  return loading;
}

bool Stream::hasFloatTargets() const {
  return isFloat(std::ranges::find(fields, targetField, &data::FieldSpec::name)->type);
}

std::vector<std::string> Stream::shapeFlags() const {
  std::vector<std::string> flags;
  if (!isTraining && datasetSize % static_cast<uint64_t>(options.batchSize) != 0)
    return flags;
  size_t inputs = fields.size() - 1;
  for (const data::FieldSpec &field : fields) {
    if (field.name == targetField)
      continue;
    std::string sizes = std::to_string(options.batchSize);
    for (int64_t size : field.dims)
      sizes += "," + std::to_string(size);
    flags.push_back("--shape=" + field.name + "=" + sizes);
    if (inputs == 1) // whatever the model calls it
      flags.push_back("--shape=" + sizes);
  }
  return flags;
}

const data::FieldSpec &Stream::fieldFor(const Port &port, const std::string &target, size_t modelInputs) const {
  std::string wanted = port.name == target ? targetField : port.name;
  auto found = std::ranges::find(fields, wanted, &data::FieldSpec::name);
  if (found == fields.end() && modelInputs == 1)
    found = std::ranges::find_if(fields, [&](const data::FieldSpec &f) { return f.name != targetField; });
  if (found != fields.end())
    return *found;
  std::string known;
  for (const data::FieldSpec &field : fields)
    known += (known.empty() ? "" : ", ") + inQuotes(field.name) + " " + typeText(field.type, field.dims);
  fail(DLC_USAGE, path, ": nothing for the input ", inQuotes(port.name), " ", portText(port), "; a sample has ", known);
}

void Stream::bind(const std::vector<Port> &given, const std::string &target) {
  size_t modelInputs = static_cast<size_t>(std::ranges::count_if(
      given, [&](const Port &port) { return port.name != target && port.name != "lr"; }));
  data::DatasetPtr dataset = open();
  data::LoaderOptions loading = loaderOptions();
  std::vector<data::FieldSpec> specs = dataset->fields();
  data::Transforms transforms = makeTransforms(options.transforms, options.channelsLast, targetField, specs);
  ports.clear();
  for (const Port &port : given) {
    if (port.name == "lr")
      continue;
    const data::FieldSpec &field = fieldFor(port, target, modelInputs);
    if (field.dims.size() + 1 != port.dims.size())
      fail(DLC_USAGE, path, ": ", inQuotes(field.name), " of a sample is ", typeText(field.type, field.dims), ", the input ",
           inQuotes(port.name), " of the model is ", portText(port), "; --transform reshape=... may help");
    if (field.type != port.type)
      transforms.push_back(data::cast(field.name, port.type));
    loading.fields.push_back(field.name);
    ports.push_back(port.name);
  }
  check(data::Loader::create(std::move(dataset), std::move(transforms), loading, loader).release());
}

void Stream::seek(int64_t at, const std::map<std::string, std::string> &notes) {
  batch = {};
  auto perEpoch = loader.batchesPerEpoch(), number = static_cast<uint64_t>(at);
  check(loader.seek({number / perEpoch, number % perEpoch, numberOr(notes, "data_skipped", 0),
                     numberOr(notes, "data_fingerprint", 0)}).release(), path);
}

std::map<std::string, std::string> Stream::notes() const {
  data::Position position = loader.position();
  return {{"data_fingerprint", std::to_string(position.fingerprint)}, {"data_skipped", std::to_string(position.skipped)}};
}

void Stream::next() { check(loader.next(batch).release()); }

Tensor Stream::tensor(const std::string &port) const {
  auto field = static_cast<size_t>(std::ranges::find(ports, port) - ports.begin());
  if (field == ports.size())
    fail(DLC_INTERNAL, "no batch for the input ", inQuotes(port));
  const dlc_tensor &from = *batch.tensor(field);
  auto dims = dimsOf(from);
  dlc_tensor *wrapped = nullptr;
  check(dlc_tensor_wrap(dlc_tensor_type(&from), dims.data(), static_cast<int>(dims.size()), dlc_tensor_data(&from),
                        bytesOf(from).size(), &wrapped));
  return Tensor(wrapped);
}

std::string Stream::remark() const {
  data::Statistics statistics = loader.statistics();
  uint64_t broken = statistics.replaced + statistics.skipped;
  return broken == 0 ? "" : path + ": " + std::to_string(broken) + " broken samples, the last one: " + statistics.lastBroken;
}

} // namespace dlc::cli
