// Reading elements at positions that another tensor holds.

#ifndef DLC_DIALECTS_DL_OPS_GATHER_TD
#define DLC_DIALECTS_DL_OPS_GATHER_TD

include "dialects/dl/ops/LinalgOp.td"

class Dl_IndexingOp<string mnemonic>
    : Dl_SingleResultOp<mnemonic, [DeclareOpInterfaceMethods<Dl_ChecksIndices, ["indexRanges"]>,
                                   DeclareOpInterfaceMethods<Dl_Differentiable>]>;

def Dl_GatherOp : Dl_IndexingOp<"gather"> {
  let summary = "Slices of a tensor at given positions of one axis.";
  let description = [{
    `result[..., i..., ...] = input[..., indices[i...], ...]`: the axes of
    `indices` take the place of `axis`. Negative indices count from the end.

    Constraints:
      C1. `axis` lies in [0, rank)
      C2. `indices` has integer elements in [-size, size)

    Example:
    ```mlir
    %y = dl.gather %x, %i {axis = 1 : i64} : (tensor<2x8xf32>, tensor<3xi64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, I64Attr:$axis);
}

def Dl_GatherElementsOp : Dl_IndexingOp<"gather_elements"> {
  let summary = "One element per index, from the index's own row.";
  let description = [{
    `result[p] = input[p with axis replaced by indices[p]]`. Negative indices
    count from the end.

    Constraints:
      C1. `axis` lies in [0, rank); `indices` has the rank of `input`
      C2. `indices` has integer elements in [-size, size)
      C3. on other axes `indices` is not larger than `input`

    Example:
    ```mlir
    %y = dl.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x2xf32>, tensor<1x2xi64>) -> tensor<1x2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, I64Attr:$axis);
}

def Dl_GatherNdOp : Dl_IndexingOp<"gather_nd"> {
  let summary = "Slices of a tensor at positions given by several coordinates.";
  let description = [{
    `result[p, ...] = input[p[:batch_dims], indices_0[p], indices_1[p], ..., ...]`.
    There is one tensor of indices per coordinate; all have one shape. Negative
    indices count from the end.

    Constraints:
      C1. at least one coordinate; batch_dims + coordinates <= rank
      C2. `indices` agree in shape and element type; elements lie in [-size, size)
      C3. the first `batch_dims` axes of `indices` are those of `input`

    Example:
    ```mlir
    %y = dl.gather_nd %x, %i, %j {batch_dims = 0 : i64}
      : (tensor<4x5x6xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<3x6xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$indices, I64Attr:$batch_dims);
}

#endif // DLC_DIALECTS_DL_OPS_GATHER_TD
