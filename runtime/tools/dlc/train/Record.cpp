#include "runtime/tools/dlc/train/Record.h"

#include "runtime/tools/io/File.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace dlc::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The shortest text that reads back as the same number.
std::string text(double value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

void writeText(const std::string &path, const std::string &contents) {
  std::string_view parts[] = {contents};
  writeFile(path, parts);
}

} // namespace

void writeJson(const std::string &path, const Record &record, const TrainOptions &options) {
  Json json = {{"model", options.model},
               {"batches", options.data.path.empty() ? options.batches : options.data.path},
               {"loss_function", options.loss},
               {"optimizer", options.optimizer},
               {"seed", options.seed},
               {"accumulate", options.accumulate},
               {"first_step", record.firstStep},
               {"steps", record.losses.size()},
               {"seconds", record.seconds},
               {"samples_per_second",
                record.seconds > 0 ? static_cast<double>(record.samples) / record.seconds : 0},
               {"data_wait_share", record.seconds > 0 ? record.dataSeconds / record.seconds : 0},
               {"loss", record.losses},
               {"lr", record.learningRates}};
  for (const Validation &validation : record.validations) {
    Json entry = {{"step", validation.step}, {"loss", validation.loss}};
    for (const auto &[name, value] : validation.metrics)
      entry[name] = value;
    json["validation"].push_back(std::move(entry));
  }
  writeText(path, json.dump(1) + "\n");
}

void writeCsv(const std::string &path, const Record &record) {
  std::string lines = "step,loss,lr\n";
  for (size_t i = 0; i < record.losses.size(); ++i)
    lines += std::to_string(record.firstStep + static_cast<int64_t>(i)) + "," +
             text(record.losses[i]) + "," + text(record.learningRates[i]) + "\n";
  writeText(path, lines);
}

void writePlot(const std::string &path, const Record &record) {
  constexpr double width = 720, height = 400, left = 70, right = 20, top = 20, bottom = 40;
  std::vector<double> finite;
  std::copy_if(record.losses.begin(), record.losses.end(), std::back_inserter(finite),
               [](double loss) { return std::isfinite(loss); });
  double low = finite.empty() ? 0 : *std::min_element(finite.begin(), finite.end());
  double high = finite.empty() ? 1 : *std::max_element(finite.begin(), finite.end());
  high = high > low ? high : low + 1;
  double last = std::max<double>(static_cast<double>(record.losses.size()) - 1, 1);
  auto x = [&](double step) { return left + (width - left - right) * step / last; };
  auto y = [&](double loss) { return top + (height - top - bottom) * (high - loss) / (high - low); };
  std::ostringstream svg;
  svg << std::fixed << std::setprecision(1) << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
      << width << "\" height=\"" << height
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"white\"/>\n";
  constexpr int lines = 4;
  for (int i = 0; i <= lines; ++i) {
    double loss = low + (high - low) * i / lines;
    svg << "<line x1=\"" << left << "\" x2=\"" << width - right << "\" y1=\"" << y(loss)
        << "\" y2=\"" << y(loss) << "\" stroke=\"#ddd\"/>\n<text x=\"" << left - 8 << "\" y=\""
        << y(loss) + 4 << "\" text-anchor=\"end\">" << std::setprecision(4) << loss
        << std::setprecision(1) << "</text>\n";
    int64_t step = record.firstStep + std::llround(last * i / lines);
    svg << "<text x=\"" << x(last * i / lines) << "\" y=\"" << height - bottom + 20
        << "\" text-anchor=\"middle\">" << step << "</text>\n";
  }
  svg << "<polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"1.5\" points=\"";
  for (size_t i = 0; i < record.losses.size(); ++i)
    if (std::isfinite(record.losses[i]))
      svg << x(static_cast<double>(i)) << "," << y(record.losses[i]) << " ";
  svg << "\"/>\n";
  for (const Validation &v : record.validations)
    if (std::isfinite(v.loss) && v.loss >= low && v.loss <= high)
      svg << "<circle r=\"3\" fill=\"#d62728\" cx=\"" << x(static_cast<double>(v.step - record.firstStep))
          << "\" cy=\"" << y(v.loss) << "\"/>\n";
  svg << "<text x=\"" << width / 2 << "\" y=\"" << height - 6
      << "\" text-anchor=\"middle\">step</text>\n<text x=\"14\" y=\"" << height / 2
      << "\" text-anchor=\"middle\" transform=\"rotate(-90 14 " << height / 2
      << ")\">loss</text>\n</svg>\n";
  writeText(path, svg.str());
}

} // namespace dlc::cli
