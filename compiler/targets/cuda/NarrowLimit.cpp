#include "compiler/targets/cuda/NarrowLimit.h"

#include "compiler/artifact/SizeSteps.h"

#include "runtime/schema/DeviceImages.h"
#include "runtime/schema/Expr.h"

using namespace mlir;

namespace dlc::cuda {

NarrowLimit limitOf(const llvm::SetVector<AffineExpr> &extents) {
  llvm::SetVector<AffineExpr> all;
  for (AffineExpr extent : extents) {
    if (!extent)
      return {};
    extent.walk([&](AffineExpr part) { all.insert(part); });
  }
  NarrowLimit limit{true, {}};
  for (AffineExpr expr : all) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      if (std::abs(constant.getValue()) > schema::kMostNarrowExtent)
        return {};
      continue;
    }
    SizeExpr steps = toSizeSteps(expr);
    llvm::append_range(limit.largest, steps);
    if (!limit.isAlways)
      limit.largest.emplace_back(schema::ExprCode::Max, 0);
    limit.isAlways = false;
  }
  if (limit.largest.size() > schema::kMostExprSteps)
    return {};
  return limit;
}

} // namespace dlc::cuda
