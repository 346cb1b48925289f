// TFRecord files: length, checksum of the length, data, checksum of the data. The data
// are tf.train.Example messages:
//   Example { Features features = 1; }   Features { map<string, Feature> feature = 1; }
//   Feature { BytesList = 1 | FloatList = 2 | Int64List = 3, each { repeated value = 1 } }

#include "runtime/data/Crc32c.h"
#include "runtime/data/readers/Record.h"
#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Protobuf.h"

#include <algorithm>
#include <cstring>

namespace dlc::data {

namespace {

using cli::WireField;
using cli::WireReader;
using cli::WireType;

constexpr uint64_t kLengthBytes = 12, kTailBytes = 4; // length with its checksum; the data's
enum List : uint64_t { BytesList = 1, FloatList = 2, Int64List = 3 };

template <typename T> T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Checksums are stored turned and shifted, as those of data with checksums inside are weak.
bool matches(uint32_t stored, std::span<const uint8_t> bytes) {
  uint32_t crc = crc32c(bytes);
  return stored == (crc >> 15 | crc << 17) + 0xa282ead8u;
}

class TfRecordDataset : public Dataset {
public:
  TfRecordDataset(const std::vector<std::string> &files, std::vector<RecordField> fields);

  uint64_t size() const override { return records.size(); }
  std::vector<FieldSpec> fields() const override;
  std::string where(uint64_t index) const override {
    uint32_t file = records[index].file;
    return paths[file] + ": record " + std::to_string(index - firstOf[file]);
  }
  Status read(uint64_t index, Sample &sample) const override;
  Status decode(Sample &sample) const override;

private:
  struct Record {
    uint32_t file;
    uint64_t offset, sizeBytes; // of the data
  };
  void index(uint32_t file);
  size_t fieldOf(std::string_view key) const;
  void decodeFeature(std::span<const uint8_t> feature, const RecordField &field, Value &value) const;

  std::vector<std::string> paths;
  std::vector<RecordField> wanted;
  std::vector<std::unique_ptr<cli::MappedFile>> files;
  std::vector<uint64_t> firstOf;
  std::vector<Record> records;
};

TfRecordDataset::TfRecordDataset(const std::vector<std::string> &files_, std::vector<RecordField> fields)
    : paths(files_), wanted(std::move(fields)) {
  if (wanted.empty())
    fail(DLC_USAGE, "TFRecord files do not say what is in them: name the features wanted");
  for (const RecordField &field : wanted) {
    if (field.kind == RecordField::Array)
      fail(DLC_UNSUPPORTED, "field ", inQuotes(field.name), ": TFRecords hold images, integers and floats");
    if (dlc_type_size_bytes(DLC_I64, field.dims.data(), static_cast<int>(field.dims.size())) < 0)
      fail(DLC_USAGE, "field ", inQuotes(field.name), ": wrong sizes");
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    files.push_back(std::make_unique<cli::MappedFile>(paths[i]));
    firstOf.push_back(records.size());
    index(static_cast<uint32_t>(i));
  }
}

void TfRecordDataset::index(uint32_t file) {
  std::span<const uint8_t> bytes = files[file]->bytes();
  const std::string &path = paths[file];
  if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
    fail(DLC_UNSUPPORTED, path, ": compressed; TFRecords must be uncompressed");
  for (uint64_t at = 0; at < bytes.size();) {
    uint64_t left = bytes.size() - at;
    if (left < kLengthBytes)
      fail(DLC_USAGE, path, ": truncated: ", left, " bytes at ", at, " are no record");
    if (!matches(load<uint32_t>(&bytes[at + 8]), bytes.subspan(at, 8)))
      fail(DLC_USAGE, path, ": not a TFRecord file, or broken: wrong checksum of the length of record ",
           records.size() - firstOf[file]);
    auto length = load<uint64_t>(&bytes[at]);
    if (left - kLengthBytes < kTailBytes || length > left - kLengthBytes - kTailBytes)
      fail(DLC_USAGE, path, ": truncated: record ", records.size() - firstOf[file], " claims ", length,
           " bytes, ", left - kLengthBytes, " are there");
    records.push_back({file, at + kLengthBytes, length});
    at += kLengthBytes + length + kTailBytes;
  }
}

std::vector<FieldSpec> TfRecordDataset::fields() const {
  std::vector<FieldSpec> specs;
  for (const RecordField &field : wanted)
    specs.push_back(specOf(field));
  return specs;
}

/// The first value borrows the whole message until it is decoded.
Status TfRecordDataset::read(uint64_t index, Sample &sample) const {
  const Record &record = records[index];
  std::span<const uint8_t> data = files[record.file]->bytes().subspan(record.offset, record.sizeBytes);
  if (!matches(load<uint32_t>(data.data() + data.size()), data))
    return failure(DLC_USAGE, "wrong checksum of the data");
  const int64_t dims[] = {static_cast<int64_t>(data.size())};
  sample.values[0].borrow(DLC_U8, dims, data.data());
  return Status();
}

size_t TfRecordDataset::fieldOf(std::string_view key) const {
  return static_cast<size_t>(std::ranges::find(wanted, key, &RecordField::key) - wanted.begin());
}

std::span<const uint8_t> messageIn(const WireField &field, const char *what) {
  if (field.type != WireType::Bytes)
    fail(DLC_USAGE, "not a tf.train.Example: ", what, " is no message");
  return field.bytes;
}

/// Calls `body` with the contents of each field `number`.
template <typename Body>
void eachMessage(std::span<const uint8_t> bytes, uint64_t number, const char *what, const Body &body) {
  for (WireReader reader(bytes, "tf.train.Example"); !reader.done();)
    if (WireField field = reader.next(); field.number == number)
      body(messageIn(field, what));
}

Status TfRecordDataset::decode(Sample &sample) const {
  return guarded([&] {
    std::span<const uint8_t> message = sample.values[0].bytes(); // of the file: stays
    constexpr size_t most = 64;
    std::array<std::span<const uint8_t>, most> found;
    if (wanted.size() > most)
      fail(DLC_UNSUPPORTED, "more than ", most, " features");
    eachMessage(message, 1, "features", [&](std::span<const uint8_t> features) {
      eachMessage(features, 1, "a feature", [&](std::span<const uint8_t> entry) {
        std::string_view key;
        std::span<const uint8_t> feature;
        eachMessage(entry, 1, "a key", [&](auto text) { key = {reinterpret_cast<const char *>(text.data()), text.size()}; });
        eachMessage(entry, 2, "a feature", [&](auto bytes) { feature = bytes; });
        if (size_t i = fieldOf(key); i < wanted.size())
          found[i] = feature;
      });
    });
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!found[i].data())
        fail(DLC_USAGE, "no feature ", inQuotes(wanted[i].key));
      decodeFeature(found[i], wanted[i], sample.values[i]);
    }
  });
}

/// Packed or one by one; `append` checks that there is room.
template <typename Append>
void eachNumber(const WireField &field, WireType wire, const RecordField &wanted, const Append &append) {
  if (field.type == wire)
    return append(field.value);
  if (field.type != WireType::Bytes)
    fail(DLC_USAGE, "feature ", inQuotes(wanted.key), ": values of a wrong type");
  for (WireReader reader(field.bytes, "tf.train.Example"); !reader.done();)
    append(wire == WireType::Varint ? reader.varint() : reader.fixed(4));
}

template <typename T>
void decodeNumbers(std::span<const uint8_t> list, WireType wire, dlc_type type, const RecordField &wanted, Value &value) {
  uint8_t *out = value.prepare(type, wanted.dims);
  if (!out)
    fail(DLC_OUT_OF_MEMORY, "feature ", inQuotes(wanted.key), ": no memory");
  size_t room = static_cast<size_t>(dlc_type_size_bytes(type, wanted.dims.data(), static_cast<int>(wanted.dims.size()))) / sizeof(T);
  size_t count = 0;
  auto append = [&](uint64_t bits) {
    if (count < room)
      std::memcpy(out + count * sizeof(T), &bits, sizeof(T)); // little endian
    ++count;
  };
  for (WireReader reader(list, "tf.train.Example"); !reader.done();)
    if (WireField field = reader.next(); field.number == 1)
      eachNumber(field, wire, wanted, append);
  if (count != room)
    fail(DLC_USAGE, "feature ", inQuotes(wanted.key), " has ", count, " values, ", room, " are wanted");
  value.commit();
}

void TfRecordDataset::decodeFeature(std::span<const uint8_t> feature, const RecordField &field, Value &value) const {
  uint64_t kind = field.kind == RecordField::Image      ? BytesList
                  : field.kind == RecordField::Integers ? Int64List
                                                        : FloatList;
  std::span<const uint8_t> list;
  eachMessage(feature, kind, "a list", [&](auto bytes) { list = bytes; });
  if (!list.data())
    fail(DLC_USAGE, "feature ", inQuotes(field.key), " is no list of ",
         kind == BytesList ? "bytes" : kind == FloatList ? "floats" : "integers");
  if (kind == Int64List)
    return decodeNumbers<int64_t>(list, WireType::Varint, DLC_I64, field, value);
  if (kind == FloatList)
    return decodeNumbers<float>(list, WireType::Fixed32, DLC_F32, field, value);
  std::span<const uint8_t> encoded;
  eachMessage(list, 1, "a value", [&](auto bytes) { encoded = bytes; });
  decodeImageInto(value, encoded, field.name);
}

} // namespace

Status openTfRecord(const std::vector<std::string> &files, std::vector<RecordField> fields, DatasetPtr &dataset) {
  return guarded([&] { dataset = std::make_unique<TfRecordDataset>(files, std::move(fields)); });
}

} // namespace dlc::data
