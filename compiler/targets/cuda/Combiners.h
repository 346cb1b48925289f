// How the parts of a reduction are put together.

#ifndef DLC_COMPILER_TARGETS_CUDA_COMBINERS_H
#define DLC_COMPILER_TARGETS_CUDA_COMBINERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dlc::cuda {

/// The op that combines the carried value with a new one; null when there is more to it.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op, unsigned output);

/// What combining with changes nothing.
mlir::TypedAttr identityOf(mlir::Operation *combiner);

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_COMBINERS_H
