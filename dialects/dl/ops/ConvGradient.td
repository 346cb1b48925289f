// The gradient of a convolution by its filter. Its C++ half is
// ConvGradient.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_CONVGRADIENT_TD
#define DLC_DIALECTS_DL_OPS_CONVGRADIENT_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_ConvFilterGradientOp : Dl_Op<"conv_filter_gradient", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>,
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>,
    DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "The gradient of a convolution by its filter.";
  let description = [{
    For the result `grad` of dl.conv on `input`, with the conv's strides s,
    dilations d, pads p and groups, g = o / (O / groups) and the filter's
    spatial sizes `kernel`:

      result[o,c,i..] = sum(n,y..) input[n, g*I + c, y*s + i*d - p, ..] * grad[n,o,y..]

    With `channels_last`, input, grad and result have their channels (I) last.
    f16 and bf16 accumulate in f32.

    Constraints:
      C1. input and grad have rank 3 to 5, and the same, and one element type
      C2. both have the same N; their C and O are multiples of groups
      C3. one stride, dilation and kernel size (all > 0) per spatial axis, two pads
      C4. grad has the spatial sizes that the conv of `input` gives

    Example:
    ```mlir
    %dw = dl.conv_filter_gradient %x, %dy {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
      : (tensor<2x3x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<16x3x3x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$grad, DenseI64ArrayAttr:$kernel,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    I64Attr:$groups, UnitAttr:$channels_last);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    int64_t spatialRank() { return getKernel().size(); }
    int64_t channelAxis() { return getChannelsLast() ? spatialRank() + 1 : 1; }
    int64_t spatialAxis() { return getChannelsLast() ? 1 : 2; }
  }];
}

#endif // DLC_DIALECTS_DL_OPS_CONVGRADIENT_TD
