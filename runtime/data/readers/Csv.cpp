// Tables of numbers as text. Opening finds the rows; a row is parsed when it is wanted,
// so that a broken one is a broken sample and no broken file.

#include "runtime/data/Failure.h"
#include "runtime/tools/io/File.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

namespace dlc::data {

namespace {

constexpr size_t kMostColumns = 1 << 16, kMostClasses = 1 << 16;

/// Goes through the cells of a row (RFC 4180: quotes may hold separators and line ends,
/// and themselves twice).
class RowReader {
public:
  RowReader(std::string_view text, char separator) : text(text), separator(separator) {}

  /// False at the end of the row. A cell is what stands between the separators.
  bool next(std::string_view &cell) {
    if (ended)
      return false;
    size_t at = 0;
    for (quoted = false; at < text.size(); ++at) {
      char c = text[at];
      if (c == '"')
        quoted = !quoted;
      if (!quoted && (c == separator || c == '\n'))
        break;
    }
    cell = text.substr(0, at);
    ended = at == text.size() || text[at] == '\n';
    text.remove_prefix(std::min(at + 1, text.size()));
    return true;
  }
  /// What follows the row.
  std::string_view rest() const { return text; }
  bool endsInQuotes() const { return ended && quoted; }

private:
  std::string_view text;
  char separator;
  bool ended = false, quoted = false;
};

std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view space = " \t\r";
  cell.remove_prefix(std::min(cell.find_first_not_of(space), cell.size()));
  return cell.substr(0, cell.find_last_not_of(space) + 1);
}

/// A cell's text without quotes.
std::string_view unquoted(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    return trimmed(cell.substr(1, cell.size() - 2));
  return cell;
}

template <typename T> bool parse(std::string_view cell, T &number) {
  if (cell.starts_with('+'))
    cell.remove_prefix(1);
  auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return error == std::errc() && end == cell.data() + cell.size();
}

class CsvDataset : public Dataset {
public:
  CsvDataset(const std::string &path, const CsvOptions &options);

  uint64_t size() const override { return rows.size(); }
  std::vector<FieldSpec> fields() const override;
  std::string where(uint64_t index) const override;
  Status read(uint64_t index, Sample &sample) const override;
  Status decode(Sample &sample) const override;
  const std::vector<std::string> &classNames() const { return classes; }

private:
  static constexpr size_t kNoLabel = SIZE_MAX;
  void findColumns(std::string_view firstRow);
  void findRows(std::string_view text);
  void findClasses();
  void decodeRow(std::string_view row, Sample &sample) const;
  void decodeLabel(std::string_view cell, Value &value) const;
  size_t features() const { return columns.size() - (label != kNoLabel); }
  std::string_view rowText(uint64_t index) const {
    return {text.data() + rows[index], (index + 1 < rows.size() ? rows[index + 1] : text.size()) - rows[index]};
  }

  std::string path;
  CsvOptions options;
  cli::MappedFile file;
  std::string_view text;
  std::vector<std::string> columns, classes;
  size_t label = kNoLabel;
  std::vector<uint64_t> rows; // where each begins
};

CsvDataset::CsvDataset(const std::string &path, const CsvOptions &options)
    : path(path), options(options), file(path),
      text(reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()) {
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) // the mark of UTF-8
    rest.remove_prefix(3);
  findColumns(rest);
  if (options.header) {
    RowReader header(rest, options.separator);
    for (std::string_view cell; header.next(cell);)
      ;
    rest = header.rest();
  }
  findRows(rest);
  if (label != kNoLabel && options.classes)
    findClasses();
}

void CsvDataset::findColumns(std::string_view firstRow) {
  RowReader row(firstRow, options.separator);
  for (std::string_view cell; row.next(cell);) {
    if (columns.size() == kMostColumns)
      fail(DLC_USAGE, path, ": more than ", kMostColumns, " columns");
    columns.push_back(options.header ? std::string(unquoted(cell)) : std::to_string(columns.size()));
  }
  if (!options.label.empty()) {
    auto found = std::ranges::find(columns, options.label);
    if (found == columns.end())
      fail(DLC_USAGE, path, ": no column ", inQuotes(options.label), " among its ", columns.size());
    label = static_cast<size_t>(found - columns.begin());
  }
  if (features() == 0)
    fail(DLC_USAGE, path, ": no columns besides the label");
}

void CsvDataset::findRows(std::string_view rest) {
  while (!rest.empty()) {
    auto begin = static_cast<uint64_t>(rest.data() - text.data());
    RowReader row(rest, options.separator);
    for (std::string_view cell; row.next(cell);)
      ;
    std::string_view line = rest.substr(0, rest.size() - row.rest().size());
    if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) // an empty line is no row
      rows.push_back(begin);
    rest = row.rest();
  }
}

/// The first row decides: if its label is a number, all must be; words are numbered in
/// their order.
void CsvDataset::findClasses() {
  std::set<std::string, std::less<>> seen;
  for (uint64_t i = 0; i < rows.size(); ++i) {
    RowReader row(rowText(i), options.separator);
    std::string_view cell;
    size_t column = 0;
    while (row.next(cell) && column < label)
      ++column;
    if (column < label)
      continue; // a broken row, which says so when it is read
    cell = unquoted(cell);
    if (int64_t number; i == 0 && parse(cell, number))
      return;
    if (seen.contains(cell))
      continue;
    if (seen.size() == kMostClasses)
      fail(DLC_USAGE, path, ": column ", inQuotes(options.label), " has more than ", kMostClasses, " classes");
    seen.emplace(cell);
  }
  classes.assign(seen.begin(), seen.end());
}

std::vector<FieldSpec> CsvDataset::fields() const {
  std::vector<FieldSpec> specs = {{"x", DLC_F32, {static_cast<int64_t>(features())}}};
  if (label != kNoLabel)
    specs.push_back({"y", options.classes ? DLC_I64 : DLC_F32, {}});
  return specs;
}

std::string CsvDataset::where(uint64_t index) const {
  auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(rows[index]), '\n');
  return path + ": line " + std::to_string(line);
}

Status CsvDataset::read(uint64_t index, Sample &sample) const {
  std::string_view row = rowText(index);
  const int64_t dims[] = {static_cast<int64_t>(row.size())};
  sample.values[0].borrow(DLC_U8, dims, row.data());
  return Status();
}

Status CsvDataset::decode(Sample &sample) const {
  return guarded([&] {
    std::span<const uint8_t> bytes = sample.values[0].bytes(); // of the file: stays
    decodeRow({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, sample);
  });
}

void CsvDataset::decodeRow(std::string_view text, Sample &sample) const {
  const int64_t dims[] = {static_cast<int64_t>(features())};
  auto *out = reinterpret_cast<float *>(sample.values[0].prepare(DLC_F32, dims));
  if (!out)
    fail(DLC_OUT_OF_MEMORY, "no memory for ", features(), " numbers");
  RowReader row(text, options.separator);
  size_t column = 0;
  for (std::string_view cell; row.next(cell); ++column) {
    if (column == columns.size())
      fail(DLC_USAGE, "more than the ", columns.size(), " columns there are");
    cell = unquoted(cell);
    if (column == label)
      decodeLabel(cell, sample.values[1]);
    else if (!parse(cell, *out) || !std::isfinite(*out++))
      fail(DLC_USAGE, "column ", inQuotes(columns[column]), ": ", inQuotes(cell), " is no finite number");
  }
  if (row.endsInQuotes())
    fail(DLC_USAGE, "a quote does not end");
  if (column < columns.size())
    fail(DLC_USAGE, column, " columns, there should be ", columns.size());
  sample.values[0].commit();
}

void CsvDataset::decodeLabel(std::string_view cell, Value &value) const {
  uint8_t number[8];
  float target;
  int64_t index = 0;
  if (!options.classes) {
    if (!parse(cell, target) || !std::isfinite(target))
      fail(DLC_USAGE, "column ", inQuotes(options.label), ": ", inQuotes(cell), " is no finite number");
    std::memcpy(number, &target, sizeof target);
  } else if (classes.empty()) {
    if (!parse(cell, index) || index < 0)
      fail(DLC_USAGE, "column ", inQuotes(options.label), ": ", inQuotes(cell), " is no class");
    std::memcpy(number, &index, sizeof index);
  } else {
    index = std::ranges::lower_bound(classes, cell) - classes.begin();
    std::memcpy(number, &index, sizeof index);
  }
  std::memcpy(value.prepare(options.classes ? DLC_I64 : DLC_F32, {}), number, options.classes ? 8 : 4);
  value.commit();
}

} // namespace

Status openCsv(const std::string &path, const CsvOptions &options, DatasetPtr &dataset,
               std::vector<std::string> *classes) {
  return guarded([&] {
    auto made = std::make_unique<CsvDataset>(path, options);
    if (classes)
      *classes = made->classNames();
    dataset = std::move(made);
  });
}

} // namespace dlc::data
