// Sequences: counting up, running sums, order, and positions of elements.

#ifndef DLC_DIALECTS_DL_OPS_SEQUENCE_TD
#define DLC_DIALECTS_DL_OPS_SEQUENCE_TD

include "dialects/dl/ops/LinalgOp.td"

def Dl_RangeSizeOp : Dl_SingleResultOp<"range_size"> {
  let summary = "How many numbers lie between two others.";
  let description = [{
    max(0, ceil((limit - start) / delta)) as an i64 vector of one element.

    Constraints:
      C1. operands are scalars of one element type

    Example:
    ```mlir
    %n = dl.range_size %a, %b, %d : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$start, AnyRankedTensor:$limit, AnyRankedTensor:$delta);
}

def Dl_RangeOp : Dl_SingleResultOp<"range", [DeclareOpInterfaceMethods<Dl_Differentiable>]> {
  let summary = "An arithmetic sequence.";
  let description = [{
    `result[i] = start + i * delta`; `size` holds the number of elements.

    Constraints:
      C1. `start` and `delta` are scalars of one element type
      C2. `size` is an i64 vector of one element

    Example:
    ```mlir
    %y = dl.range %a, %d, %n : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$start, AnyRankedTensor:$delta, AnyRankedTensor:$size);
}

def Dl_CumulateOp : Dl_SingleResultOp<"cumulate", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_ChecksIndices, ["indexRanges"]>]> {
  let summary = "Running sums or products along an axis.";
  let description = [{
    `result[..., i, ...]` = sum (or product) of `input[..., 0..i, ...]` along the
    axis that the scalar `axis` holds. `exclusive` leaves the element itself
    out, `reverse` runs from the end.

    Constraints:
      C1. `axis` is one i64 element in [-rank, rank)

    Example:
    ```mlir
    %y = dl.cumulate %x, %axis {reverse} : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$axis,
                       UnitAttr:$is_product, UnitAttr:$exclusive, UnitAttr:$reverse);
}

def Dl_TopKOp : Dl_LinalgOp<"topk", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>]> {
  let summary = "The largest or smallest elements along an axis, in order.";
  let description = [{
    Of equal elements the one with the lower index comes first; NaN counts as
    the largest number. `k` holds how many are wanted.

    Constraints:
      C1. `axis` lies in [0, rank)
      C2. `k` is an i64 vector of one element, at most the size of the axis

    Example:
    ```mlir
    %v, %i = dl.topk %x, %k {axis = 1 : i64, largest}
      : (tensor<2x9xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$k, I64Attr:$axis, UnitAttr:$largest);
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
}

def Dl_NonZeroOp : Dl_LinalgOp<"nonzero", [
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>]> {
  let summary = "The positions of the elements that are not zero.";
  let description = [{
    Column j of `positions` holds the coordinates of the j-th element that is
    not zero, in row-major order; `count` says how many columns are used, the
    others are 0.

    Example:
    ```mlir
    %p, %n = dl.nonzero %x : (tensor<2x3xi1>) -> (tensor<2x6xi64>, tensor<1xi64>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$positions, AnyRankedTensor:$count);
}

#endif // DLC_DIALECTS_DL_OPS_SEQUENCE_TD
