// Constants and what reads a tensor's shape.

#ifndef DLC_DIALECTS_DL_OPS_CONSTANT_TD
#define DLC_DIALECTS_DL_OPS_CONSTANT_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_ConstantOp : Dl_Op<"constant", [
    Pure, ConstantLike, AllTypesMatch<["value", "result"]>, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "A tensor known at compile time.";
  let description = [{
    Large values are DenseResourceElementsAttr over memory that the module does
    not own (mapped model files); small ones are DenseElementsAttr.

    Example:
    ```mlir
    %c = dl.constant dense<[1, 2]> : tensor<2xi64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Dl_ShapeOfOp : Dl_Op<"shape_of", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>]> {
  let summary = "The sizes of a tensor as an i64 vector.";
  let description = [{
    result[i] = size of axis i of `input`. Folds to a constant when the shape
    is static; otherwise sizes stay symbolic and most uses never run.

    Example:
    ```mlir
    %s = dl.shape_of %x : (tensor<?x3xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

#endif // DLC_DIALECTS_DL_OPS_CONSTANT_TD
