#include "runtime/tools/dlc/Summary.h"

#include "runtime/tools/dlc/Table.h"
#include "runtime/tools/io/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace dlc::cli {

namespace {

constexpr int64_t kFirstValues = 5, kTop = 5;
constexpr size_t kLongestNodes = 64;

struct Statistics {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  int64_t nans = 0, counted = 0;
};

Statistics statistics(const dlc_tensor &tensor) {
  Statistics result;
  for (int64_t i = 0, e = elementCount(tensor); i < e; ++i) {
    double value = elementValue(tensor, i);
    if (std::isnan(value)) {
      ++result.nans;
      continue;
    }
    result.least = std::min(result.least, value);
    result.greatest = std::max(result.greatest, value);
    result.sum += value;
    ++result.counted;
  }
  return result;
}

std::vector<std::string> firstValues(const dlc_tensor &tensor) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < std::min(kFirstValues, elementCount(tensor)); ++i)
    values.push_back(elementText(tensor, i));
  return values;
}

/// Numbers, exact for integers; NaN and infinity are null in JSON.
nlohmann::ordered_json firstNumbers(const dlc_tensor &tensor) {
  auto list = nlohmann::ordered_json::array();
  dlc_type type = dlc_tensor_type(&tensor);
  for (int64_t i = 0; i < std::min(kFirstValues, elementCount(tensor)); ++i)
    if (isFloat(type))
      list.push_back(elementValue(tensor, i));
    else if (type == DLC_BOOL)
      list.push_back(elementBits(tensor, i) != 0);
    else if (type == DLC_U64)
      list.push_back(elementBits(tensor, i));
    else
      list.push_back(static_cast<int64_t>(elementBits(tensor, i)));
  return list;
}

/// The greatest elements of scores [1,K] or [K]; nothing for other tensors.
std::vector<int64_t> top(const dlc_tensor &tensor) {
  std::span<const int64_t> dims = dimsOf(tensor);
  int64_t count = elementCount(tensor);
  bool scores = isFloat(dlc_tensor_type(&tensor)) && count > kTop && !dims.empty() &&
                dims.size() <= 4 && *std::ranges::max_element(dims) == count;
  if (!scores)
    return {};
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    if (!std::isnan(elementValue(tensor, i)))
      order.push_back(i);
  size_t kept = std::min<size_t>(kTop, order.size());
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int64_t a, int64_t b) {
    double x = elementValue(tensor, a), y = elementValue(tensor, b);
    return x != y ? x > y : a < b;
  });
  order.resize(kept);
  return order;
}

struct KernelTotal {
  std::string kernel, nodes;
  int64_t calls = 0;
  double us = 0, flops = 0;
};

std::vector<KernelTotal> totals(const std::vector<KernelTime> &times) {
  std::map<std::string, KernelTotal> byName;
  for (const KernelTime &time : times) {
    KernelTotal &total = byName[time.kernel];
    total.kernel = time.kernel;
    ++total.calls;
    total.us += time.durationUs;
    total.flops += time.flops;
    if (!time.nodes.empty() && total.nodes.size() < kLongestNodes) // the printer cuts it
      total.nodes += (total.nodes.empty() ? "" : ", ") + time.nodes;
  }
  std::vector<KernelTotal> sorted;
  for (auto &[name, total] : byName)
    sorted.push_back(std::move(total));
  std::ranges::sort(sorted, [](auto &a, auto &b) {
    return a.us != b.us ? a.us > b.us : a.kernel < b.kernel;
  });
  return sorted;
}

double sumUs(const std::vector<KernelTotal> &all) {
  return std::accumulate(all.begin(), all.end(), 0.0,
                         [](double sum, auto &total) { return sum + total.us; });
}

} // namespace

void printOutputs(std::ostream &os, const Model &model, const std::vector<Tensor> &outputs) {
  Table table({"output", "type", ">min", ">max", ">mean", ">NaN", "first values"});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const dlc_tensor &tensor = *outputs[i];
    Statistics found = statistics(tensor);
    std::string values;
    for (const std::string &value : firstValues(tensor))
      values += (values.empty() ? "" : " ") + value;
    bool any = found.counted > 0;
    table.add({shortened(model.outputs[i].name, 40), typeText(tensor),
               any ? general(found.least) : "-", any ? general(found.greatest) : "-",
               any ? general(found.sum / found.counted) : "-", std::to_string(found.nans), values});
  }
  table.print(os);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (std::vector<int64_t> best = top(*outputs[i]); !best.empty()) {
      os << "top " << best.size() << " of " << model.outputs[i].name << ":";
      for (int64_t index : best)
        os << "  " << index << " (" << elementText(*outputs[i], index) << ")";
      os << "\n";
    }
}

nlohmann::ordered_json outputsJson(const Model &model, const std::vector<Tensor> &outputs) {
  auto list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const dlc_tensor &tensor = *outputs[i];
    Statistics found = statistics(tensor);
    nlohmann::ordered_json json = {{"name", model.outputs[i].name},
                                   {"type", dlc_type_name(dlc_tensor_type(&tensor))},
                                   {"shape", dimsOf(tensor)},
                                   {"nan", found.nans}};
    if (found.counted) {
      json["min"] = found.least;
      json["max"] = found.greatest;
      json["mean"] = found.sum / found.counted;
    }
    json["first"] = firstNumbers(tensor);
    if (std::vector<int64_t> best = top(tensor); !best.empty())
      json["top"] = best;
    list.push_back(std::move(json));
  }
  return list;
}

void printProfile(std::ostream &os, const std::vector<KernelTime> &times) {
  std::vector<KernelTotal> all = totals(times);
  double whole = sumUs(all);
  Table table({">ms", ">%", ">calls", ">GFLOP/s", "kernel", "nodes"});
  for (const KernelTotal &total : all)
    table.add({fixed(total.us / 1e3, 3), fixed(whole > 0 ? 100 * total.us / whole : 0, 1),
               std::to_string(total.calls),
               total.flops > 0 && total.us > 0 ? fixed(total.flops / total.us / 1e3, 1) : "-",
               shortened(total.kernel, 48), shortened(total.nodes, kLongestNodes)});
  table.print(os);
  os << "total " << fixed(whole / 1e3, 3) << " ms in " << times.size() << " dispatches\n";
}

nlohmann::ordered_json profileJson(const std::vector<KernelTime> &times) {
  auto list = nlohmann::ordered_json::array();
  for (const KernelTotal &total : totals(times))
    list.push_back({{"kernel", total.kernel}, {"ms", total.us / 1e3}, {"calls", total.calls},
                    {"gflops", total.us > 0 ? total.flops / total.us / 1e3 : 0},
                    {"nodes", total.nodes}});
  return list;
}

} // namespace dlc::cli
