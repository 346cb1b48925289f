// The gradient of pooling. Its C++ half is PoolGradient.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_POOLGRADIENT_TD
#define DLC_DIALECTS_DL_OPS_POOLGRADIENT_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Enums.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_PoolGradientOp : Dl_Op<"pool_gradient", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["prefersChannelsLast", "permuteLayout", "permutesOperand"]>]> {
  let summary = "The gradient of pooling by its input.";
  let description = [{
    `grad` belongs to the result of dl.pool with the same attributes, `shape`
    holds the sizes of its input. Every element sums over the windows that cover
    it. `kind` sum: their gradients; mean: their gradients, divided by the number
    of elements that the window counted; max: the gradients of those windows
    whose first largest element (or first NaN) it is. Only max reads `input`.

    Constraints:
      C1. `kind` is sum, mean or max; `input` is given for max and only then
      C2. `shape` is an i64 vector with one element per axis, in the layout of grad
      C3. grad has the shape that pooling of `shape` gives

    Example:
    ```mlir
    %dx = dl.pool_gradient %dy, %s, %x {kind = 3 : i32, kernel = array<i64: 2, 2>,
        strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
        ceil_mode = false, count_include_pad = false}
      : (tensor<1x3x4x4xf32>, tensor<4xi64>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$shape, Optional<AnyRankedTensor>:$input,
    Dl_ReduceKind:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads, BoolAttr:$ceil_mode,
    BoolAttr:$count_include_pad, UnitAttr:$channels_last);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DLC_DIALECTS_DL_OPS_POOLGRADIENT_TD
