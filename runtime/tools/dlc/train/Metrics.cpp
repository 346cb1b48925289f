#include "runtime/tools/dlc/train/Metrics.h"

#include "runtime/tools/io/Error.h"

#include <cmath>
#include <numeric>

namespace dlc::cli {

namespace {

struct Hits {
  int64_t total = 0, first = 0, firstFive = 0;
};

/// Counts the rows of `logits` along `axis` whose target is the largest, and one of the
/// five largest. Targets outside the classes are ignored ones.
void countHits(const dlc_tensor &logits, const dlc_tensor &targets, int64_t axis, Hits &hits) {
  auto dims = dimsOf(logits);
  axis = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  int64_t classes = dims[axis], inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i)
    inner *= dims[i];
  for (int64_t row = 0; row < elementCount(targets); ++row) {
    int64_t target = static_cast<int64_t>(elementBits(targets, row));
    if (target < 0 || target >= classes)
      continue;
    int64_t start = row / inner * classes * inner + row % inner;
    double score = elementValue(logits, start + target * inner);
    int64_t better = 0;
    for (int64_t c = 0; c < classes; ++c) {
      double other = elementValue(logits, start + c * inner);
      better += other > score || (other == score && c < target) || std::isnan(score);
    }
    ++hits.total;
    hits.first += better == 0;
    hits.firstFive += better < 5;
  }
}

size_t indexOf(const std::vector<Port> &ports, const std::string &name) {
  const Port *port = findPort(ports, name);
  if (!port)
    fail(DLC_USAGE, "the artifact's `eval` has no output ", inQuotes(name));
  return port - ports.data();
}

} // namespace

Validation validate(Model &eval, Source &batches, const std::string &target,
                    const TrainOptions &options) {
  size_t lossAt = indexOf(eval.outputs, "loss"), countAt = indexOf(eval.outputs, "count");
  double sum = 0, count = 0;
  Hits hits;
  batches.seek(0, {});
  for (int64_t batch = 0; batch < batches.count(); ++batch) {
    batches.next();
    std::vector<Tensor> inputs, outputs;
    const dlc_tensor *targets = nullptr;
    for (const Port &port : eval.inputs) {
      inputs.push_back(batches.tensor(port.name));
      if (port.name == target)
        targets = inputs.back().get();
    }
    eval.run(inputs, outputs);
    double weight = elementValue(*outputs[countAt], 0);
    sum += weight > 0 ? elementValue(*outputs[lossAt], 0) * weight : 0;
    count += weight;
    bool hasClasses = options.loss == "cross-entropy" || options.loss == "nll";
    if (hasClasses && targets && dlc_tensor_type(targets) == DLC_I64)
      countHits(*outputs[0], *targets, options.classAxis, hits);
  }
  Validation result = {0, count > 0 ? sum / count : NAN, {}};
  if (hits.total > 0) {
    result.metrics["accuracy"] = static_cast<double>(hits.first) / static_cast<double>(hits.total);
    result.metrics["top5"] = static_cast<double>(hits.firstFive) / static_cast<double>(hits.total);
  }
  if (options.loss == "cross-entropy" || options.loss == "nll")
    result.metrics["perplexity"] = std::exp(result.loss);
  return result;
}

} // namespace dlc::cli
