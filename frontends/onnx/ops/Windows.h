// Attributes that convolutions and pooling share: kernel, strides, pads.

#ifndef DLC_FRONTENDS_ONNX_OPS_WINDOWS_H
#define DLC_FRONTENDS_ONNX_OPS_WINDOWS_H

#include "frontends/onnx/NodeContext.h"

namespace dlc::onnx {

struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
};

/// Reads strides, dilations, pads and auto_pad for an input of shape `spatial`
/// (-1: unknown) and the given kernel.
mlir::FailureOr<Window> readWindow(NodeContext &c, llvm::ArrayRef<int64_t> spatial,
                                   llvm::ArrayRef<int64_t> kernel);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_OPS_WINDOWS_H
