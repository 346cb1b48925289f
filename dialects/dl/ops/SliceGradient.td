// The inverse of cutting. Its C++ half is SliceGradient.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_SLICEGRADIENT_TD
#define DLC_DIALECTS_DL_OPS_SLICEGRADIENT_TD

include "dialects/dl/ops/LinalgOp.td"

def Dl_UnsliceOp : Dl_SingleResultOp<"unslice", [DeclareOpInterfaceMethods<Dl_Differentiable>]> {
  let summary = "Zeros with a tensor written where dl.slice would read it.";
  let description = [{
    `result[start + i * step] = input[i]` per axis, 0 elsewhere; `bounds` holds
    the rows start, size, step of that slice, and `shape` the sizes of the result.

    Constraints:
      C1. `bounds` has the shape 3 x rank and the element type i64
      C2. `shape` is an i64 vector with one element per axis
      C3. `input` has the sizes that `bounds` states

    Example:
    ```mlir
    %b = dl.constant dense<[[1], [2], [2]]> : tensor<3x1xi64>
    %s = dl.constant dense<[5]> : tensor<1xi64>
    %y = dl.unslice %x, %b, %s : (tensor<2xf32>, tensor<3x1xi64>, tensor<1xi64>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$bounds, AnyRankedTensor:$shape);
}

#endif // DLC_DIALECTS_DL_OPS_SLICEGRADIENT_TD
