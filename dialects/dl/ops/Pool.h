#ifndef DLC_DIALECTS_DL_OPS_POOL_H
#define DLC_DIALECTS_DL_OPS_POOL_H

#include "dialects/dl/Dl.h"
#include "dialects/dl/LinalgLowering.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Pool.h.inc"

namespace dlc::dl {

/// How windows slide: what pooling and its gradient have in common.
struct PoolGeometry {
  template <typename Op> static PoolGeometry of(Op op) {
    return {op.getKernel(),   op.getStrides(),         op.getDilations(),   op.getPads(),
            op.getCeilMode(), op.getCountIncludePad(), op.getChannelsLast()};
  }

  llvm::ArrayRef<int64_t> kernel, strides, dilations, pads;
  bool ceilMode, countIncludePad, channelsLast;

  int64_t spatialRank() const { return kernel.size(); }
  int64_t spatialAxis() const { return channelsLast ? 1 : 2; }
  int64_t windowSize(int64_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }

  /// C1 to C3 of dl.pool, and the result's sizes.
  mlir::FailureOr<Shape> inferDims(InferContext &c, llvm::ArrayRef<mlir::AffineExpr> input) const;

  /// Loops over the result's axes, then over the taps of a window.
  struct Loops {
    mlir::AffineMap input, window, output;
    llvm::SmallVector<mlir::utils::IteratorType> kinds;
    mlir::Value taps; // never read: gives the window loops their bounds
  };
  Loops loops(LinalgLowering &l) const;
  /// The input, padded with `padding` up to where the last window ends.
  mlir::Value pad(LinalgLowering &l, mlir::Value input, mlir::Value padding) const;
  /// In the body of a loop over the result: how many elements the window covers,
  /// in an input of these spatial sizes.
  mlir::Value countCovered(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> sizes) const;
};

/// What never is a maximum, as a constant of a storage type.
mlir::Value lowestStored(LinalgLowering &l, mlir::Type element);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_OPS_POOL_H
