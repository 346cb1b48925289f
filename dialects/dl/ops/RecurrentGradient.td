// Recurrent layers backward through time. Its C++ half is RecurrentGradient.cpp,
// next to this file.

#ifndef DLC_DIALECTS_DL_OPS_RECURRENTGRADIENT_TD
#define DLC_DIALECTS_DL_OPS_RECURRENTGRADIENT_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Enums.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_RecurrentGradientOp : Dl_Op<"recurrent_gradient", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>]> {
  let summary = "The part of a recurrent layer's gradient that runs through time.";
  let description = [{
    For dl.recurrent with the same attributes: `previous_h` [T,N,H] is the state
    that each step began with, `recurrent` [T,N,G*H] = R previous_h + b (its last
    third is not read for a gru without `linear_before_reset`); the gradients
    belong to the layer's results. Steps run backwards, and nothing but the
    states' gradients is carried from one to the next.

    Results: the gradients of `projected` and of `recurrent` [T,N,G*H] (the
    latter gives those of weights and bias as one product and one sum), of
    initial_h and initial_c [N,H], and what those products need [T,N,H]: for an
    lstm c after each step, for a gru r * previous_h.

    Constraints:
      C1. projected and recurrent have the shape [T,N,G*H], weights [G*H,H]
      C2. previous_h and sequence_grad have the shape [T,N,H], states [N,H]
  }];
  let arguments = (ins AnyRankedTensor:$projected, AnyRankedTensor:$recurrent,
    AnyRankedTensor:$weights, AnyRankedTensor:$bias, AnyRankedTensor:$previous_h,
    AnyRankedTensor:$initial_c, AnyRankedTensor:$sequence_grad, AnyRankedTensor:$last_h_grad,
    AnyRankedTensor:$last_c_grad, Optional<AnyRankedTensor>:$lengths,
    Optional<AnyRankedTensor>:$peepholes, Dl_RecurrentKind:$kind, StrArrayAttr:$activations,
    F64ArrayAttr:$alphas, F64ArrayAttr:$betas, UnitAttr:$reverse, UnitAttr:$linear_before_reset,
    UnitAttr:$input_forget, OptionalAttr<F64Attr>:$clip);
  let results = (outs AnyRankedTensor:$projected_grad, AnyRankedTensor:$recurrent_grad,
    AnyRankedTensor:$initial_h_grad, AnyRankedTensor:$initial_c_grad, AnyRankedTensor:$memory);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DLC_DIALECTS_DL_OPS_RECURRENTGRADIENT_TD
