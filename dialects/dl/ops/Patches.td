// The elements under a sliding window, laid out for a matrix product. Its C++
// half is Patches.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_PATCHES_TD
#define DLC_DIALECTS_DL_OPS_PATCHES_TD

include "dialects/dl/ops/LinalgOp.td"

def Dl_PatchesOp : Dl_SingleResultOp<"patches"> {
  let summary = "What a convolution's filter sees at each of its positions.";
  let description = [{
    `input` is N,spatial..,C, padded with zeros; with the strides s, dilations d
    and low pads p

      result[n, y.., i.., c] = input[n, y*s + i*d - p, .., c]

    for every position y of the window and every tap i of `kernel`.

    Constraints:
      C1. input has rank 3 to 5; one kernel size, stride and dilation (all > 0)
          per spatial axis, and two pads (>= 0)
      C2. the padded input is at least as large as the window

    Example:
    ```mlir
    %p = dl.patches %x {kernel = array<i64: 3>, strides = array<i64: 1>,
        dilations = array<i64: 1>, pads = array<i64: 1, 1>} : (tensor<2x8x4xf32>) -> tensor<2x8x3x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads);
}

#endif // DLC_DIALECTS_DL_OPS_PATCHES_TD
