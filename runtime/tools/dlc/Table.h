// Text tables for the terminal: columns as wide as they need to be.

#ifndef DLC_RUNTIME_TOOLS_DLC_TABLE_H
#define DLC_RUNTIME_TOOLS_DLC_TABLE_H

#include <ostream>
#include <string>
#include <vector>

namespace dlc::cli {

class Table {
public:
  /// A title that begins with '>' makes a column of numbers: aligned right.
  explicit Table(std::vector<std::string> titles);
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  void print(std::ostream &os) const;

private:
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows; // the titles first
};

/// printf's %.{digits}g and f, as text.
std::string general(double value, int digits = 4);
std::string fixed(double value, int digits);
/// "12.3 MiB".
std::string bytesText(double bytes);
/// At most `most` characters, cut with an ellipsis.
std::string shortened(const std::string &text, size_t most);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TABLE_H
