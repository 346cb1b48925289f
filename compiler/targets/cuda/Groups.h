// Which linalg ops may share a launch: ops over the same parallel loops, where no
// point needs what another point writes.

#ifndef DLC_COMPILER_TARGETS_CUDA_GROUPS_H
#define DLC_COMPILER_TARGETS_CUDA_GROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace dlc::cuda {

/// The parallel loops, the fastest last: the output's own order, so that neighbouring
/// threads store to neighbouring places. None when a parallel loop does not lead to
/// a place of its own in every output.
std::optional<llvm::SmallVector<unsigned>> parallelOrder(mlir::linalg::GenericOp op);

/// The memory that a memref is a view of.
mlir::Value rootOf(mlir::Value memref);

/// One read or write of a buffer by one point. Dims of `place` are the parallel loops
/// by their number in the order, then the reduction loops.
struct Access {
  mlir::Value root;
  mlir::AffineMap place; // null: any place
  bool isWrite;
};

/// A linalg op as a set of points.
struct PointOp {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<unsigned> order;
  llvm::SmallVector<mlir::AffineExpr> sizes; // of the loops in that order
  llvm::SmallVector<Access> accesses;
};

/// None for an op whose points share results. `loopSizes` are expressions over the
/// kernel's sizes, null where the launch does not know.
std::optional<PointOp> toPoints(mlir::linalg::GenericOp op,
                                llvm::ArrayRef<mlir::AffineExpr> loopSizes);

/// True when the points of `next` may run right behind those of `group`, each point
/// in one thread.
bool canJoin(llvm::ArrayRef<PointOp> group, const PointOp &next);

/// True when the iterations of a reduction lie side by side in memory.
bool readsRows(mlir::linalg::GenericOp op);

/// A reduction that a block does better than a thread, by an op that may combine parts
/// in any order: of a row that lies side by side in memory, or with few results.
bool isRowReduction(const PointOp &point);

/// True when a block may do the ops one after the other for one setting of their first
/// `rank` loops: no block then needs what another one writes.
bool canShareRows(llvm::ArrayRef<PointOp> ops, unsigned rank);

/// Buffers that hold one value per row and are known to nobody else.
llvm::SmallVector<mlir::Value> rowVariables(llvm::ArrayRef<PointOp> group, unsigned rank);

/// Buffers that live only within the points of a group: variables, not memory.
llvm::SmallVector<mlir::Value> localBuffers(llvm::ArrayRef<PointOp> group);

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_GROUPS_H
