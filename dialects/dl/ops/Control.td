// Control flow. Bodies read values from around them freely.

#ifndef DLC_DIALECTS_DL_OPS_CONTROL_TD
#define DLC_DIALECTS_DL_OPS_CONTROL_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_IfOp : Dl_Op<"if", [
    RecursiveMemoryEffects, SingleBlock, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "The values of one of two regions.";
  let description = [{
    Runs one region, chosen by `condition`, and gives what it yields. A size on
    which the regions disagree is unknown afterwards.

    Constraints:
      C1. `condition` is one bool
      C2. both regions yield one value per result, of one element type and rank

    Example:
    ```mlir
    %y = dl.if %c : (tensor<i1>) -> tensor<4xf32> {
      dl.yield %a : tensor<4xf32>
    } else {
      dl.yield %b : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$condition);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = [{
    $condition attr-dict `:` functional-type(operands, results) $then_region `else` $else_region
  }];
}

def Dl_LoopOp : Dl_Op<"loop", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "Repeats a region.";
  let description = [{
    Runs `body` while the condition holds and fewer than `trip` iterations are
    done; either may be left out, no condition meaning true. The body sees the
    number of the iteration, the condition and the carried values, and yields
    the next condition, the next carried values, and one slice per scanned
    result. Results: the carried values at the end, the number of iterations,
    and the scanned slices, stacked along a new first axis of `trip` entries, of
    which only as many as there were iterations are defined.

    Constraints:
      C1. `trip` is one i64, `condition` one bool
      C2. the body has the arguments (i64, bool, one per carried value)
      C3. carried values keep their element type and shape
      C4. scanned results need a trip count

    Example:
    ```mlir
    %y, %n = dl.loop %t, %c, %x {operandSegmentSizes = array<i32: 1, 1, 1>}
        : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
      %w = dl.add %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      dl.yield %go, %w : tensor<i1>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Optional<AnyRankedTensor>:$trip, Optional<AnyRankedTensor>:$condition,
                       Variadic<AnyRankedTensor>:$initial);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let extraClassDeclaration = [{
    mlir::BlockArgument counterArg() { return getBody().getArgument(0); }
    mlir::BlockArgument conditionArg() { return getBody().getArgument(1); }
    mlir::BlockArgument carriedArg(unsigned i) { return getBody().getArgument(i + 2); }
    unsigned numCarried() { return getInitial().size(); }
    unsigned numScanned() { return getNumResults() - numCarried() - 1; }
    mlir::ValueRange yielded() { return getBody().front().getTerminator()->getOperands(); }
  }];
}

#endif // DLC_DIALECTS_DL_OPS_CONTROL_TD
