// Convolutions. Their C++ half is Conv.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_CONV_TD
#define DLC_DIALECTS_DL_OPS_CONV_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_ConvOp : Dl_Op<"conv", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["prefersChannelsLast", "permuteLayout", "permutesOperand"]>,
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "Convolution over 1 to 3 spatial axes, with groups.";
  let description = [{
    Slides `filter` over `input`, padded with zeros. With s, d, p the strides,
    dilations and low pads and g = o / (O / groups):

      result[n,o,y..] = sum(c,i..) input[n, g*I + c, y*s + i*d - p, ..] * filter[o,c,i..]

    `input` and `result` are N,C,spatial.. or, with `channels_last`,
    N,spatial..,C; `filter` is always O,I/groups,spatial... `pads` holds all
    low ends, then all high ends. f16 and bf16 accumulate in f32.

    Constraints:
      C1. input and filter have rank 3 to 5, and the same
      C2. input.C == filter.I * groups
      C3. filter.O is a multiple of groups
      C4. one stride and dilation (both > 0) per spatial axis, two pads (>= 0)
      C5. the padded input is at least as large as the dilated filter

    Example:
    ```mlir
    %y = dl.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
        pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
       : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    I64Attr:$groups, UnitAttr:$channels_last);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    int64_t spatialRank() { return getStrides().size(); }
    /// Position of the channel axis and of the first spatial axis.
    int64_t channelAxis() { return getChannelsLast() ? spatialRank() + 1 : 1; }
    int64_t spatialAxis() { return getChannelsLast() ? 1 : 2; }
  }];
}

def Dl_ConvTransposeOp : Dl_Op<"conv_transpose", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>,
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "Transposed convolution (the gradient of a convolution by its input).";
  let description = [{
    `input` is N,C,spatial..; `filter` is C,O/groups,spatial... Every input
    element adds its multiple of the filter to the result:

      result[n, g*O + o, y*s + i*d - p, ..] += input[n,c,y..] * filter[c,o,i..]

    with g = c / (C / groups). The size along an axis is
    (in - 1) * s + output_padding + (k - 1) * d + 1 - pad_low - pad_high.

    Constraints:
      C1. input and filter have rank 3 to 5, and the same
      C2. filter.C == input.C, a multiple of groups
      C3. one stride and dilation (> 0) and output_padding (>= 0) per spatial
          axis, and two pads
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    DenseI64ArrayAttr:$output_padding, I64Attr:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DLC_DIALECTS_DL_OPS_CONV_TD
