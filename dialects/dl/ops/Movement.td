// Ops that rearrange elements or repeat them, and the arithmetic on shapes
// that they are used with.

#ifndef DLC_DIALECTS_DL_OPS_MOVEMENT_TD
#define DLC_DIALECTS_DL_OPS_MOVEMENT_TD

include "dialects/dl/ops/LinalgOp.td"

def Dl_ReshapeOp : Dl_LinalgOp<"reshape", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>]> {
  let summary = "The same elements under another shape.";
  let description = [{
    The elements of `input` in row-major order, with the sizes that `shape`
    holds. One element of `shape` may be the constant -1: what the others
    leave over. 0 is the size 0.

    Constraints:
      C1. `shape` is an i64 vector of static length
      C2. at most one constant -1, no other negative size
      C3. both shapes have the same number of elements

    Example:
    ```mlir
    %s = dl.constant dense<[2, -1]> : tensor<2xi64>
    %y = dl.reshape %x, %s : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$shape);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
}

def Dl_ResolveShapeOp : Dl_SingleResultOp<"resolve_shape"> {
  let summary = "Replaces 0 and -1 in a requested shape.";
  let description = [{
    `result[i]` = size i of `input` where `shape[i]` is 0 (unless `allow_zero`),
    what the others leave over where it is -1, else `shape[i]`.

    Constraints:
      C1. `shape` is an i64 vector of static length
      C2. a 0 stands at an axis that `input` has

    Example:
    ```mlir
    %s = dl.resolve_shape %x, %r : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$shape, UnitAttr:$allow_zero);
}

def Dl_BroadcastShapeOp : Dl_SingleResultOp<"broadcast_shape"> {
  let summary = "The shape to which two shapes broadcast.";
  let description = [{
    numpy broadcasting of two shapes given as i64 vectors, aligned at the end.

    Constraints:
      C1. both operands are i64 vectors of static length
      C2. sizes that meet are equal, or one of them is 1

    Example:
    ```mlir
    %s = dl.broadcast_shape %a, %b : (tensor<2xi64>, tensor<3xi64>) -> tensor<3xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
}

def Dl_ExpandOp : Dl_SingleResultOp<"expand", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["fusionRole"]>]> {
  let summary = "Repeats a tensor along axes of size 1 and new leading axes.";
  let description = [{
    The result has the sizes that `shape` holds; axes align at the end.

    Constraints:
      C1. `shape` is an i64 vector of static length, at least the rank
      C2. an axis of `input` is 1 or the size asked for

    Example:
    ```mlir
    %y = dl.expand %x, %s : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$shape);
  let hasCanonicalizer = 1;
}

def Dl_TransposeOp : Dl_LinalgOp<"transpose", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>]> {
  let summary = "Permutes the axes of a tensor.";
  let description = [{
    Axis i of the result is axis `permutation[i]` of `input`.

    Constraints:
      C1. `permutation` is a permutation of the axes

    Example:
    ```mlir
    %y = dl.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Dl_ConcatOp : Dl_SingleResultOp<"concat", [
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["permuteLayout"]>]> {
  let summary = "Joins tensors along an axis.";
  let description = [{
    Constraints:
      C1. at least one operand
      C2. operands have one element type and one rank
      C3. `axis` lies in [0, rank)
      C4. sizes agree on every other axis

    Example:
    ```mlir
    %y = dl.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$axis);
  let hasFolder = 1;
}

def Dl_TileOp : Dl_SingleResultOp<"tile", [DeclareOpInterfaceMethods<Dl_Differentiable>]> {
  let summary = "Repeats a tensor whole along its axes.";
  let description = [{
    `result[i] = input[i mod size]`; axis k has `repeats[k]` times its size.

    Constraints:
      C1. `repeats` is an i64 vector with one element per axis

    Example:
    ```mlir
    %y = dl.tile %x, %r : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$repeats);
}

def Dl_BitcastOp : Dl_SingleResultOp<"bitcast"> {
  let summary = "The bits of each element read as another type.";
  let description = [{
    Constraints:
      C1. both element types have the same size in memory; `to` is not bool

    Example:
    ```mlir
    %y = dl.bitcast %x {to = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, TypeAttr:$to);
}

#endif // DLC_DIALECTS_DL_OPS_MOVEMENT_TD
