#include "passes/Counts.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace dlc {

namespace {

class CountStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit CountStreamer(CountListener listener) : listener(std::move(listener)) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    int64_t count;
    for (const auto &arg : remark.getArgs())
      if (arg.key == kKey && !StringRef(arg.val).getAsInteger(10, count))
        listener(remark.getCategoryName(), remark.getRemarkName(), count);
  }

  static constexpr StringLiteral kKey = "Count";

private:
  CountListener listener;
};

} // namespace

void reportCounts(Pass &pass, Operation *root, ArrayRef<PassCount> counts) {
  for (const PassCount &c : counts)
    remark::analysis(root->getLoc(),
                     remark::RemarkOpts::name(c.what).category(pass.getArgument()))
        << remark::metric(CountStreamer::kKey, c.count);
}

void listenToCounts(MLIRContext &context, CountListener listener) {
  remark::RemarkCategories categories{std::nullopt, std::nullopt, std::nullopt, ".*", std::nullopt};
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<CountStreamer>(std::move(listener)),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

} // namespace dlc
