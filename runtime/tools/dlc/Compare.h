// Are two tensors the same, and if not, where is it worst?

#ifndef DLC_RUNTIME_TOOLS_DLC_COMPARE_H
#define DLC_RUNTIME_TOOLS_DLC_COMPARE_H

#include "runtime/tools/io/Tensor.h"

#include <nlohmann/json_fwd.hpp>

namespace dlc::cli {

/// |got - expected| <= absolute + relative * |expected|, for floats. All other
/// types must be equal. NaN equals NaN, infinity the same infinity. bf16 has a
/// least relative tolerance of its own: two of its ulps, as in ONNX's own runner.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
  double leastBf16Relative = 0x1p-6;
};

struct Comparison {
  std::string name;
  std::string problem;   // shape or type differ; then nothing else is set
  int64_t count = 0, wrong = 0;
  double worstDifference = 0; // over all elements, also those that agree
  int64_t worstIndex = -1;    // of the wrong element farthest off; -1: none
  std::string position, expected, got;

  bool agrees() const { return problem.empty() && wrong == 0; }
};

Comparison compareTensors(const std::string &name, const dlc_tensor &expected,
                          const dlc_tensor &got, const Tolerance &tolerance);

/// "'y': 3 of 10 differ, worst at [0,2]: expected 1, got 2".
std::string comparisonText(const Comparison &comparison);
nlohmann::ordered_json comparisonJson(const Comparison &comparison);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_COMPARE_H
