// Resampling along one axis by tables of positions and weights. What an image
// is resized by (its coordinate modes and filters) is arithmetic on the tables.

#ifndef DLC_DIALECTS_DL_OPS_RESAMPLE_TD
#define DLC_DIALECTS_DL_OPS_RESAMPLE_TD

include "dialects/dl/ops/LinalgOp.td"

def Dl_InterpolateOp : Dl_SingleResultOp<"interpolate", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_ChecksIndices, ["indexRanges"]>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>]> {
  let summary = "Weighted sums of elements along an axis.";
  let description = [{
    `result[..., o, ...] = sum over t of weights[o, t] * input[..., positions[o, t], ...]`

    Constraints:
      C1. `axis` lies in [0, rank); `input` has float elements
      C2. `positions` is an i64 matrix with a static number of columns, at least
          one; elements lie in [0, size)
      C3. `weights` has the shape of `positions`; its element type is f64 for an
          f64 input, else f32

    Example:
    ```mlir
    %y = dl.interpolate %x, %p, %w {axis = 1 : i64}
      : (tensor<3x4xf32>, tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<3x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$positions,
                       AnyRankedTensor:$weights, I64Attr:$axis);
}

#endif // DLC_DIALECTS_DL_OPS_RESAMPLE_TD
