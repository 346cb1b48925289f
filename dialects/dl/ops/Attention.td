// Attention. Its C++ half is Attention.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_ATTENTION_TD
#define DLC_DIALECTS_DL_OPS_ATTENTION_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_AttentionOp : Dl_Op<"attention", [
    Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_Decomposes, ["decompose", "hasKernel"]>,
    DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "Weighted means of values, the weights a softmax of query times key.";
  let description = [{
    With query [b,h,s,d], key [b,g,t,d], value [b,g,t,e] and h = g * r, head i of
    the query reads head i / r of key and value:

      x[b,h,s,t] = scale * sum(d) query[b,h,s,d] * key[b,h/r,t,d]
      x = softcap * tanh(x / softcap)            when softcap > 0
      x = x + bias                               when there is one
      x = masked_value where mask is false       when there is one
      x = -inf where t > s                       when causal
      result[b,h,s,e] = sum(t) softmax(x)[b,h,s,t] * value[b,h/r,t,e]

    `masked_value` is -inf when absent. A row of x that is -inf throughout gives
    NaN, as softmax does; with `zero_empty_rows` it gives 0. `precision` is the
    element type of the softmax where that is not the operands' own. The order
    of sums is fixed but not specified; the scale is split over both factors.

    Constraints:
      C1. query, key and value have rank 4 and one float element type
      C2. they have the same batch size, query and key the same size d, key and
          value the same heads and length
      C3. h is a multiple of g: both are static, or equal
      C4. the mask is bool, the bias of the element type; both broadcast to x
      C5. scale and softcap are finite and not negative

    Example:
    ```mlir
    %y = dl.attention %q, %k, %v {causal, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 0.125 : f64}
       : (tensor<1x8x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>) -> tensor<1x8x16x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
    Optional<AnyRankedTensor>:$mask, Optional<AnyRankedTensor>:$bias, F64Attr:$scale,
    OptionalAttr<F64Attr>:$softcap, UnitAttr:$causal, OptionalAttr<F64Attr>:$masked_value,
    UnitAttr:$zero_empty_rows, OptionalAttr<TypeAttr>:$precision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    double softcap() { return getSoftcap() ? getSoftcap()->convertToDouble() : 0; }
    double maskedValue();

    /// The values on the way to the result.
    struct Stages {
      ::mlir::Value scores, masked, weights, result;
    };
    /// Emits them in dl ops.
    ::llvm::FailureOr<Stages> expand(::mlir::OpBuilder &b);
  }];
}

#endif // DLC_DIALECTS_DL_OPS_ATTENTION_TD
