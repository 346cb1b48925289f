// Matrix products. Their C++ half is MatMul.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_MATMUL_TD
#define DLC_DIALECTS_DL_OPS_MATMUL_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_MatMulOp : Dl_Op<"matmul", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>,
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "Matrix product over the last two axes, leading axes broadcast.";
  let description = [{
    result[.., m, n] = sum(k) lhs[.., m, k] * rhs[.., k, n]; `transpose_lhs` and
    `transpose_rhs` read [.., k, m] and [.., n, k]. f16 and bf16 accumulate in f32.

    Constraints:
      C1. both operands have rank 2 or more and one element type
      C2. both have the same size of k
      C3. leading axes broadcast

    Example:
    ```mlir
    %c = dl.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x3xf32>) -> tensor<2x4x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DLC_DIALECTS_DL_OPS_MATMUL_TD
