// When each buffer of a program is live.

#ifndef DLC_PASSES_PLAN_LIFETIMES_H
#define DLC_PASSES_PLAN_LIFETIMES_H

#include "dialects/plan/Plan.h"

namespace dlc::plan {

struct Lifetime {
  int64_t first = INT64_MAX, last = -1; // instruction numbers, both included
};

/// True for ops that run, as opposed to declarations.
bool isInstruction(mlir::Operation *op);

/// Visits instructions in the order of their numbers, depth first. A loop is visited
/// once more after its body, under a number of its own.
void forEachInstruction(ProgramOp program,
                        llvm::function_ref<void(mlir::Operation *, int64_t number)> visit);

/// The buffer whose memory `buffer` uses, through any chain of aliases.
BufferOp rootBuffer(mlir::Value buffer);

/// Lifetimes of root buffers; uses of an alias count for its root.
llvm::DenseMap<BufferOp, Lifetime> computeLifetimes(ProgramOp program);

/// Bytes of a buffer of static size.
std::optional<int64_t> staticBytes(BufferOp buffer);

} // namespace dlc::plan

#endif // DLC_PASSES_PLAN_LIFETIMES_H
