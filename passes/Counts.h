// What passes say they did. MLIR's own statistics are compiled out of release builds of
// LLVM; these are analysis remarks, so that a release compiler can tell, too.

#ifndef DLC_PASSES_COUNTS_H
#define DLC_PASSES_COUNTS_H

#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace dlc {

struct PassCount {
  llvm::StringRef what; // "fused": how often
  int64_t count;
};

/// Called by a pass at its end. Free while nobody listens.
void reportCounts(mlir::Pass &pass, mlir::Operation *root, llvm::ArrayRef<PassCount> counts);

using CountListener = std::function<void(llvm::StringRef pass, llvm::StringRef what, int64_t count)>;

/// From now on, `listener` hears every count of passes in this context.
void listenToCounts(mlir::MLIRContext &context, CountListener listener);

} // namespace dlc

#endif // DLC_PASSES_COUNTS_H
