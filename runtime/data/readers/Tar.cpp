// WebDataset shards: tar archives of files, of which neighbours with one name up to the
// first point of the file name are one sample. The headers are read once, when the shards
// are opened; the samples are then found without searching.

#include "runtime/data/readers/Record.h"
#include "runtime/data/readers/TarFile.h"
#include "runtime/tools/io/Npy.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace dlc::data {

namespace {

constexpr uint64_t kAbsent = std::numeric_limits<uint64_t>::max();

/// "a/b/0001.seg.png": key "a/b/0001", ending "seg.png".
std::pair<std::string_view, std::string_view> splitName(std::string_view name) {
  size_t file = name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1;
  size_t point = name.find('.', file);
  if (point == std::string_view::npos)
    return {name, {}};
  return {name.substr(0, point), name.substr(point + 1)};
}

class TarDataset : public Dataset {
public:
  TarDataset(const std::vector<std::string> &shards, std::vector<RecordField> fields);

  uint64_t size() const override { return samples.size(); }
  std::vector<FieldSpec> fields() const override { return specs; }
  std::string where(uint64_t index) const override {
    const Entry &entry = samples[index];
    return shards[entry.shard].name() + ": sample " + inQuotes(entry.key) + " (record " +
           std::to_string(index - firstOf[entry.shard]) + ")";
  }
  Status read(uint64_t index, Sample &sample) const override;
  Status decode(Sample &sample) const override;

private:
  struct Entry {
    uint32_t shard;
    std::string key;
    std::vector<uint64_t> offsets, sizes; // per field
  };
  void index(size_t shard);
  size_t fieldOf(std::string_view ending) const;
  void inspectArrays();

  std::vector<RecordField> wanted;
  std::vector<std::set<std::string, std::less<>>> endings; // per field
  std::vector<FieldSpec> specs;
  std::vector<TarFile> shards;
  std::vector<uint64_t> firstOf; // each shard's first sample
  std::vector<Entry> samples;
};

TarDataset::TarDataset(const std::vector<std::string> &paths, std::vector<RecordField> fields)
    : wanted(std::move(fields)) {
  if (wanted.empty())
    wanted = {{"image", "jpg,jpeg,png", RecordField::Image, {}}, {"label", "cls", RecordField::Integers, {}}};
  for (const RecordField &field : wanted) {
    if (field.kind == RecordField::Floats || !field.dims.empty())
      fail(DLC_UNSUPPORTED, "field ", inQuotes(field.name), ": tar shards hold images, single integers and .npy arrays");
    std::string_view rest = field.key;
    for (endings.emplace_back(); !rest.empty();) {
      std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      endings.back().emplace(one);
    }
    specs.push_back(specOf(field));
  }
  for (const std::string &path : paths) {
    shards.emplace_back(path);
    firstOf.push_back(samples.size());
    index(shards.size() - 1);
  }
  if (samples.empty())
    fail(DLC_USAGE, paths.empty() ? "no tar shards" : paths[0], ": no samples");
  inspectArrays();
}

size_t TarDataset::fieldOf(std::string_view ending) const {
  for (size_t i = 0; i < endings.size(); ++i)
    if (endings[i].contains(ending))
      return i;
  return endings.size();
}

void TarDataset::index(size_t shard) {
  TarFile &file = shards[shard];
  bool inSample = false;
  for (TarMember member; file.next(member);) {
    auto [key, ending] = splitName(member.name);
    size_t field = fieldOf(ending);
    if (field == endings.size())
      continue;
    if (!inSample || samples.back().key != key) {
      samples.push_back({static_cast<uint32_t>(shard), std::string(key),
                         std::vector<uint64_t>(wanted.size(), kAbsent), std::vector<uint64_t>(wanted.size())});
      inSample = true;
    }
    if (samples.back().offsets[field] != kAbsent)
      fail(DLC_USAGE, file.name(), ": sample ", inQuotes(key), " has two files for field ",
           inQuotes(wanted[field].name));
    samples.back().offsets[field] = member.offset;
    samples.back().sizes[field] = member.sizeBytes;
  }
}

/// The first sample's arrays say what all of them are.
void TarDataset::inspectArrays() {
  Sample first;
  first.values.resize(specs.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].kind != RecordField::Array)
      continue;
    Status status = read(0, first);
    if (status)
      fail(status.code(), where(0), ": ", status.message());
    cli::SpanSource source(where(0) + ": field " + inQuotes(wanted[i].name), first.values[i].bytes());
    cli::NpyHeader header = cli::readNpyHeader(source);
    specs[i].type = header.type;
    specs[i].dims = header.dims;
  }
}

Status TarDataset::read(uint64_t index, Sample &sample) const {
  const Entry &entry = samples[index];
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (entry.offsets[i] == kAbsent)
      return failure(DLC_USAGE, "no file with the ending " + wanted[i].key + " for field " + inQuotes(wanted[i].name));
    const int64_t dims[] = {static_cast<int64_t>(entry.sizes[i])};
    sample.values[i].borrow(DLC_U8, dims, shards[entry.shard].bytes().data() + entry.offsets[i]);
  }
  return Status();
}

int64_t parseInteger(std::span<const uint8_t> bytes, const std::string &field) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  constexpr std::string_view space = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  text = text.substr(0, text.find_last_not_of(space) + 1);
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    fail(DLC_USAGE, field, ": ", inQuotes(text), " is no integer");
  return number;
}

void decodeArray(Value &value, const std::string &field) {
  cli::SpanSource source(field, value.bytes());
  cli::Tensor array = cli::readNpy(source);
  std::span<const uint8_t> bytes = cli::bytesOf(*array);
  uint8_t *out = value.prepare(dlc_tensor_type(array.get()), cli::dimsOf(*array));
  if (!out)
    fail(DLC_OUT_OF_MEMORY, field, ": no memory for ", bytes.size(), " bytes");
  std::copy(bytes.begin(), bytes.end(), out);
  value.commit();
}

Status TarDataset::decode(Sample &sample) const {
  return guarded([&] {
    for (size_t i = 0; i < wanted.size(); ++i) {
      Value &value = sample.values[i];
      if (wanted[i].kind == RecordField::Image)
        decodeImageInto(value, value.bytes(), wanted[i].name);
      else if (wanted[i].kind == RecordField::Integers)
        setInteger(value, parseInteger(value.bytes(), wanted[i].name));
      else
        decodeArray(value, wanted[i].name);
    }
  });
}

} // namespace

Status openTar(const std::vector<std::string> &shards, std::vector<RecordField> fields, DatasetPtr &dataset) {
  return guarded([&] { dataset = std::make_unique<TarDataset>(shards, std::move(fields)); });
}

} // namespace dlc::data
