// The memory plan drawn: a glance shows what is alive when, and what is wasted.

#include "runtime/tools/dlc/MemoryPlan.h"
#include "runtime/tools/dlc/Table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace dlc::cli {

namespace {

constexpr int kColumns = 72, kRows = 16;
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The cell that holds `at` of `whole`, of `cells`.
int cellOf(int64_t at, int64_t whole, int cells) {
  double share = whole > 0 ? static_cast<double>(at) / static_cast<double>(whole) : 0;
  return std::clamp(static_cast<int>(share * cells), 0, cells - 1);
}

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '&': result += "&amp;"; break;
    case '"': result += "&quot;"; break;
    default: result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  return result;
}

std::string placementText(const Placement &placement) {
  return placement.name + " " + placement.type + ", " +
         bytesText(static_cast<double>(placement.sizeBytes)) + " at " +
         std::to_string(placement.offset) + ", instructions " + std::to_string(placement.first) +
         " to " + std::to_string(placement.last);
}

} // namespace

void drawPlan(std::ostream &os, const MemoryPlan &plan) {
  if (plan.placements.empty() || plan.arenaBytes <= 0)
    return;
  int columns = static_cast<int>(std::min<int64_t>(kColumns, std::max<int64_t>(plan.instructions, 8)));
  std::vector<std::string> cells(kRows, std::string(columns, '.'));
  for (size_t i = 0; i < plan.placements.size(); ++i) {
    const Placement &placement = plan.placements[i];
    if (placement.sizeBytes == 0)
      continue;
    int top = cellOf(placement.offset, plan.arenaBytes, kRows);
    int bottom = cellOf(placement.offset + placement.sizeBytes - 1, plan.arenaBytes, kRows);
    int left = cellOf(placement.first, plan.instructions, columns);
    // Up to the end of its last instruction, where the next buffer may begin.
    int right = std::max(left, cellOf(placement.last + 1, plan.instructions, columns) -
                                   (placement.last + 1 < plan.instructions ? 1 : 0));
    for (int row = top; row <= bottom; ++row)
      for (int column = left; column <= right; ++column)
        cells[row][column] = kLetters[i % kLetters.size()];
  }
  for (int row = 0; row < kRows; ++row) {
    std::string label = bytesText(static_cast<double>(plan.arenaBytes) * row / kRows);
    os << std::setw(10) << label << " |" << cells[row] << "|\n";
  }
  std::string last = std::to_string(plan.instructions - 1);
  os << std::setw(11) << "" << " 0" << std::setw(std::max(columns - 1, 1)) << last
     << "  instruction\n";
}

std::string planSvg(const MemoryPlan &plan, const std::string &title) {
  constexpr double width = 1000, height = 500, margin = 30;
  double perInstruction = width / static_cast<double>(std::max<int64_t>(plan.instructions, 1));
  double perByte = height / static_cast<double>(std::max<int64_t>(plan.arenaBytes, 1));
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width + 2 * margin << " "
      << height + 2 * margin << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<text x=\"" << margin << "\" y=\"20\">" << escaped(title) << ": "
      << bytesText(static_cast<double>(plan.arenaBytes)) << ", "
      << plan.instructions << " instructions</text>\n"
      << "<rect x=\"" << margin << "\" y=\"" << margin << "\" width=\"" << width
      << "\" height=\"" << height << "\" fill=\"#f4f4f4\" stroke=\"#888\"/>\n";
  for (size_t i = 0; i < plan.placements.size(); ++i) {
    const Placement &placement = plan.placements[i];
    // The golden angle: neighbours differ in colour.
    double hue = static_cast<double>(i * 13751 % 36000) / 100;
    svg << "<rect x=\"" << margin + static_cast<double>(placement.first) * perInstruction
        << "\" y=\"" << margin + static_cast<double>(placement.offset) * perByte << "\" width=\""
        << static_cast<double>(placement.last - placement.first + 1) * perInstruction
        << "\" height=\"" << static_cast<double>(placement.sizeBytes) * perByte
        << "\" fill=\"hsl(" << hue << ",60%,70%)\" stroke=\"#444\" stroke-width=\"0.3\"><title>"
        << escaped(placementText(placement)) << "</title></rect>\n";
  }
  svg << "<text x=\"" << margin << "\" y=\"" << height + 2 * margin - 10
      << "\">time in instructions; offset grows downwards</text>\n</svg>\n";
  return svg.str();
}

} // namespace dlc::cli
