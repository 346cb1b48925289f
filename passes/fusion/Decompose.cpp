// Replaces composite ops where no kernel takes them whole.

#include "passes/Counts.h"
#include "passes/Passes.h"

namespace dlc {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

struct Decompose : dlc::impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override {
    SmallVector<dl::Decomposes> ops;
    getOperation()->walk([&](dl::Decomposes op) {
      if (!keepKernels || !op.hasKernel())
        ops.push_back(op);
    });
    for (dl::Decomposes op : ops) {
      OpBuilder b(op);
      auto values = op.decompose(b);
      if (failed(values))
        return signalPassFailure();
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
        value.setType(result.getType()); // may be known better than from the operands
        result.replaceAllUsesWith(value);
      }
      op->erase();
    }
    reportCounts(*this, getOperation(), {{"decomposed", int64_t(ops.size())}});
  }
};

} // namespace
