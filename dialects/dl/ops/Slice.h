#ifndef DLC_DIALECTS_DL_OPS_SLICE_H
#define DLC_DIALECTS_DL_OPS_SLICE_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Slice.h.inc"

namespace dlc::dl {
/// input[..., start:end:step, ...] along one axis, numbers as in Python.
/// Null, with an error emitted, when they do not fit.
mlir::Value sliceAxis(mlir::OpBuilder &b, mlir::Location loc, mlir::Value input,
                      int64_t axis, int64_t start, int64_t end, int64_t step = 1);
} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_OPS_SLICE_H
