// When the indices of a launch fit into 32 bits.

#ifndef DLC_COMPILER_TARGETS_CUDA_NARROWLIMIT_H
#define DLC_COMPILER_TARGETS_CUDA_NARROWLIMIT_H

#include "compiler/DeviceProgram.h"

#include "mlir/IR/AffineExpr.h"

#include "llvm/ADT/SetVector.h"

namespace dlc::cuda {

struct NarrowLimit {
  bool isAlways = false;
  /// What a launch compares with schema::kMostNarrowExtent; empty: never.
  SizeExpr largest;
};

/// Of the extents that a launch's loops and addresses are made of, and of all that is
/// computed on the way to them. Null extents are known to nobody before the launch.
NarrowLimit limitOf(const llvm::SetVector<mlir::AffineExpr> &extents);

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_NARROWLIMIT_H
