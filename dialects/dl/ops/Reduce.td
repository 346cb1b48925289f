// Reductions and softmax. Their C++ half is Reduce.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_REDUCE_TD
#define DLC_DIALECTS_DL_OPS_REDUCE_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Enums.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dl_ReducingOp<string mnemonic, list<Trait> traits = []> : Dl_Op<mnemonic, [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>] # traits> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Dl_ReduceOp : Dl_ReducingOp<"reduce", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>]> {
  let summary = "Combines the elements along some axes.";
  let description = [{
    `kind` sum: 0 + x + ..; mean: the sum over the count; prod: 1 * x * ..; max
    and min: NaN if any element is, and for no elements the lowest or highest
    value of the type; sum_square: the sum of x * x. f16 and bf16 accumulate in
    f32 and are rounded once. The order of a sum is fixed but not specified.

    Constraints:
      C1. axes are distinct, in [0, rank)

    Example:
    ```mlir
    %s = dl.reduce %x {kind = 0 : i32, axes = array<i64: 1>, keep_dims = true}
       : (tensor<2x3xf32>) -> tensor<2x1xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Dl_ReduceKind:$kind,
                       DenseI64ArrayAttr:$axes, BoolAttr:$keep_dims);
}

def Dl_ArgReduceOp : Dl_ReducingOp<"arg_reduce"> {
  let summary = "The index of the largest or smallest element along an axis, as i64.";
  let description = [{
    Of equal elements the first is taken, or with `select_last` the last. NaN is
    larger and smaller than every number, so that its first place is found.

    Constraints:
      C1. `axis` lies in [0, rank)
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, BoolAttr:$keep_dims,
                       BoolAttr:$largest, BoolAttr:$select_last);
}

def Dl_SoftmaxOp : Dl_ReducingOp<"softmax", [DeclareOpInterfaceMethods<Dl_Differentiable>]> {
  let summary = "e^(x - max) / sum along an axis, or its logarithm.";
  let description = [{
    Stable: the largest element is subtracted first. A row of -inf gives NaN, as
    in numpy. With `is_log`, x - max - ln(sum(e^(x - max))).

    Constraints:
      C1. `axis` lies in [0, rank)
      C2. the element type is a float
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$is_log);
}

#endif // DLC_DIALECTS_DL_OPS_REDUCE_TD
