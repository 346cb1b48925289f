#include "runtime/tools/dlc/Table.h"

#include <algorithm>
#include <cstdio>

namespace dlc::cli {

Table::Table(std::vector<std::string> titles) {
  for (std::string &title : titles) {
    right.push_back(title.starts_with(">"));
    if (right.back())
      title.erase(0, 1);
  }
  rows.push_back(std::move(titles));
}

void Table::print(std::ostream &os) const {
  std::vector<size_t> widths(right.size(), 0);
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (right[i] ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    os << line << "\n";
  }
}

std::string general(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string fixed(double value, int digits) {
  char text[512]; // room for 1e308
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string bytesText(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fixed(bytes, unit && bytes < 100 ? 1 : 0) + " " + units[unit];
}

std::string shortened(const std::string &text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

} // namespace dlc::cli
