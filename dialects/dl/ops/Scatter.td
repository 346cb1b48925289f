// Writing elements at positions that another tensor holds.

#ifndef DLC_DIALECTS_DL_OPS_SCATTER_TD
#define DLC_DIALECTS_DL_OPS_SCATTER_TD

include "dialects/dl/Enums.td"
include "dialects/dl/ops/LinalgOp.td"

class Dl_ScatteringOp<string mnemonic>
    : Dl_SingleResultOp<mnemonic, [DeclareOpInterfaceMethods<Dl_ChecksIndices, ["indexRanges"]>,
                                   DeclareOpInterfaceMethods<Dl_Differentiable>]>;

def Dl_ScatterElementsOp : Dl_ScatteringOp<"scatter_elements"> {
  let summary = "Writes one element per index, into the index's own row.";
  let description = [{
    The result is `input`, where in row-major order of p
    `result[p with axis replaced by indices[p]]` takes `updates[p]`, by `mode`.
    Negative indices count from the end.

    Constraints:
      C1. `axis` lies in [0, rank); all operands have one rank
      C2. `indices` has integer elements in [-size, size)
      C3. `updates` has the shape of `indices` and the element type of `input`
      C4. on other axes `indices` is not larger than `input`

    Example:
    ```mlir
    %y = dl.scatter_elements %x, %i, %u {axis = 0 : i64, mode = 1 : i32}
      : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, AnyRankedTensor:$updates,
                       I64Attr:$axis, Dl_ScatterMode:$mode);
}

def Dl_ScatterNdOp : Dl_ScatteringOp<"scatter_nd"> {
  let summary = "Writes slices at positions given by several coordinates.";
  let description = [{
    The result is `input`, where in row-major order of p
    `result[indices_0[p], indices_1[p], ..., ...]` takes `updates[p, ...]`, by
    `mode`. Negative indices count from the end.

    Constraints:
      C1. at least one coordinate, at most the rank of `input`
      C2. `indices` agree in shape and element type; elements lie in [-size, size)
      C3. `updates` has the axes of `indices`, then the remaining ones of `input`

    Example:
    ```mlir
    %y = dl.scatter_nd %x, %u, %i {mode = 0 : i32}
      : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<2xi64>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$updates,
                       Variadic<AnyRankedTensor>:$indices, Dl_ScatterMode:$mode);
}

#endif // DLC_DIALECTS_DL_OPS_SCATTER_TD
