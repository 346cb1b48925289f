#ifndef DLC_DIALECTS_DL_OPS_GATHER_H
#define DLC_DIALECTS_DL_OPS_GATHER_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Gather.h.inc"

namespace dlc::dl {

/// d(loss)/d(input) of a gather along `axis` from grad = d(loss)/d(result);
/// `shape` holds the sizes of the input. Sums in the order of the indices.
mlir::Value gatherGradient(GradientBuilder &g, mlir::Value grad, mlir::Value indices,
                           int64_t axis, mlir::Value shape);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_OPS_GATHER_H
