#include "runtime/tools/dlc/Compare.h"

#include "runtime/tools/io/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlc::cli {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// By how much a float is beyond its tolerance: <= 0 agrees, infinity for what
/// no tolerance covers.
double excess(double expected, double got, const Tolerance &tolerance) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : kInfinity;
  if (std::isinf(expected) || std::isinf(got))
    return expected == got ? 0 : kInfinity;
  return std::fabs(got - expected) -
         (tolerance.absolute + tolerance.relative * std::fabs(expected));
}

double difference(double expected, double got) {
  double result = std::fabs(got - expected);
  return std::isfinite(result) ? result : 0;
}

} // namespace

Comparison compareTensors(const std::string &name, const dlc_tensor &expected,
                          const dlc_tensor &got, const Tolerance &given) {
  Comparison result;
  result.name = name;
  dlc_type type = dlc_tensor_type(&expected);
  Tolerance tolerance = given;
  if (type == DLC_BF16)
    tolerance.relative = std::max(given.relative, given.leastBf16Relative);
  if (type != dlc_tensor_type(&got) || !std::ranges::equal(dimsOf(expected), dimsOf(got))) {
    result.problem = "expected " + typeText(expected) + ", got " + typeText(got);
    return result;
  }
  result.count = elementCount(expected);
  double worst = 0;
  for (int64_t i = 0; i < result.count; ++i) {
    double want = elementValue(expected, i), have = elementValue(got, i);
    double beyond = isFloat(type) ? excess(want, have, tolerance)
                    : elementBits(expected, i) == elementBits(got, i)
                        ? 0
                        : std::max(1.0, std::fabs(want - have));
    result.worstDifference = std::max(result.worstDifference, difference(want, have));
    if (!(beyond > 0))
      continue;
    ++result.wrong;
    if (beyond > worst) {
      worst = beyond;
      result.worstIndex = i;
    }
  }
  if (result.worstIndex >= 0) {
    result.position = positionText(expected, result.worstIndex);
    result.expected = elementText(expected, result.worstIndex);
    result.got = elementText(got, result.worstIndex);
  }
  return result;
}

std::string comparisonText(const Comparison &comparison) {
  std::string text = inQuotes(comparison.name) + ": ";
  if (!comparison.problem.empty())
    return text + comparison.problem;
  char number[32];
  std::snprintf(number, sizeof number, "%.3g", comparison.worstDifference);
  if (comparison.agrees())
    return text + std::to_string(comparison.count) + " elements agree, largest difference " + number;
  return text + std::to_string(comparison.wrong) + " of " + std::to_string(comparison.count) +
         " differ, worst at " + comparison.position + ": expected " + comparison.expected +
         ", got " + comparison.got;
}

nlohmann::ordered_json comparisonJson(const Comparison &comparison) {
  nlohmann::ordered_json json = {{"name", comparison.name}, {"agrees", comparison.agrees()}};
  if (!comparison.problem.empty()) {
    json["problem"] = comparison.problem;
    return json;
  }
  json["elements"] = comparison.count;
  json["wrong"] = comparison.wrong;
  json["largest_difference"] = comparison.worstDifference;
  if (comparison.worstIndex >= 0) {
    json["worst"] = {{"index", comparison.position},
                     {"expected", comparison.expected},
                     {"got", comparison.got}};
  }
  return json;
}

} // namespace dlc::cli
