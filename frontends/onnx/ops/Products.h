// Convolution and matrix product as quantized ops use them, too.

#ifndef DLC_FRONTENDS_ONNX_OPS_PRODUCTS_H
#define DLC_FRONTENDS_ONNX_OPS_PRODUCTS_H

#include "frontends/onnx/NodeContext.h"

namespace dlc::onnx {

/// Conv's product by its attributes, without a bias; null when reported.
mlir::Value convolve(NodeContext &c, mlir::Value x, mlir::Value w);
/// numpy's matmul: a vector is a row on the left and a column on the right. Null when
/// reported.
mlir::Value multiplyMatrices(NodeContext &c, mlir::Value a, mlir::Value b);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_OPS_PRODUCTS_H
