// Ops that structure a program rather than compute.

#ifndef DLC_DIALECTS_DL_OPS_STRUCTURE_TD
#define DLC_DIALECTS_DL_OPS_STRUCTURE_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_YieldOp : Dl_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends a region of a dl op and gives its values.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Dl_KernelOp : Dl_Op<"kernel", [
    Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "A group of ops that one machine kernel computes.";
  let description = [{
    Formed by the fusion passes; one kernel becomes one dispatch of the plan.
    The body sees the operands as block arguments, and nothing else.

    Constraints:
      C1. the body has one argument per operand, of its type
      C2. the body yields one value per result, of its type

    Example:
    ```mlir
    %y = dl.kernel(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %r = dl.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      dl.yield %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body
  }];
  let hasRegionVerifier = 1;
}

#endif // DLC_DIALECTS_DL_OPS_STRUCTURE_TD
