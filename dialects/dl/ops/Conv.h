#ifndef DLC_DIALECTS_DL_OPS_CONV_H
#define DLC_DIALECTS_DL_OPS_CONV_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Conv.h.inc"

namespace dlc::dl {

/// d(loss)/d(input) of dl.conv (channels-first) from grad = d(loss)/d(result).
mlir::Value convDataGradient(GradientBuilder &g, mlir::Value input, mlir::Value grad,
                             mlir::Value filter, llvm::ArrayRef<int64_t> strides,
                             llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> pads,
                             int64_t groups);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_OPS_CONV_H
