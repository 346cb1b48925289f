// Cutting tensors, padding them, and turning them around.

#ifndef DLC_DIALECTS_DL_OPS_SLICE_TD
#define DLC_DIALECTS_DL_OPS_SLICE_TD

include "dialects/dl/Enums.td"
include "dialects/dl/ops/LinalgOp.td"

def Dl_SliceBoundsOp : Dl_SingleResultOp<"slice_bounds"> {
  let summary = "Python's slice rules, resolved for every axis.";
  let description = [{
    The result has one column per axis of `input`: where the slice starts, its
    size, and its step. For an axis in `axes`, negative `starts` and `ends`
    count from the end and both are clamped, as in Python and ONNX; other axes
    are taken whole.

    Constraints:
      C1. `starts`, `ends`, `axes`, `steps` are i64 vectors of one static length
      C2. `axes` lie in [-rank, rank) and are distinct, where they are known
      C3. no step is 0

    Example:
    ```mlir
    %b = dl.slice_bounds %x, %starts, %ends, %axes, %steps
      : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x2xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$starts, AnyRankedTensor:$ends,
                       AnyRankedTensor:$axes, AnyRankedTensor:$steps);
}

def Dl_SliceOp : Dl_SingleResultOp<"slice", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>]> {
  let summary = "Every step-th element from a start, along each axis.";
  let description = [{
    `result[i] = input[start + i * step]` per axis; `bounds` holds the rows
    start, size, step.

    Constraints:
      C1. `bounds` has the shape 3 x rank and the element type i64
      C2. constant bounds stay inside `input`

    Example:
    ```mlir
    %b = dl.constant dense<[[1], [2], [1]]> : tensor<3x1xi64>
    %y = dl.slice %x, %b : (tensor<4xf32>, tensor<3x1xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$bounds);
  let hasFolder = 1;
}

def Dl_PadOp : Dl_SingleResultOp<"pad", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>]> {
  let summary = "Extends a tensor at the ends of its axes.";
  let description = [{
    `pads` holds the number of elements to add before each axis, then after
    each axis; negative numbers cut. Outside stands `value` (constant), the
    mirror image without its edge (reflect), the nearest element (edge) or the
    tensor again (wrap).

    Constraints:
      C1. `pads` is an i64 vector of length 2 * rank
      C2. `value` has rank 0 and the element type of `input`
      C3. an axis that is padded from its own elements has some

    Example:
    ```mlir
    %y = dl.pad %x, %p, %v {mode = 0 : i32} : (tensor<4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<6xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$pads, AnyRankedTensor:$value,
                       Dl_PadMode:$mode);
}

def Dl_ReverseSequenceOp : Dl_SingleResultOp<"reverse_sequence", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_ChecksIndices, ["indexRanges"]>]> {
  let summary = "Reverses the beginning of every sequence of a batch.";
  let description = [{
    Along `time_axis` the first `lengths[b]` elements of batch entry b are
    reversed, the others stay.

    Constraints:
      C1. `time_axis` and `batch_axis` are different axes of `input`
      C2. `lengths` is an i64 vector with one element per batch entry

    Example:
    ```mlir
    %y = dl.reverse_sequence %x, %n {time_axis = 0 : i64, batch_axis = 1 : i64}
      : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$lengths,
                       I64Attr:$time_axis, I64Attr:$batch_axis);
}

#endif // DLC_DIALECTS_DL_OPS_SLICE_TD
