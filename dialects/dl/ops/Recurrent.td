// Recurrent layers over time. Their C++ half is Recurrent.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_RECURRENT_TD
#define DLC_DIALECTS_DL_OPS_RECURRENT_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Enums.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_RecurrentOp : Dl_Op<"recurrent", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>,
    DeclareOpInterfaceMethods<Dl_Differentiable>]> {
  let summary = "One direction of an RNN, GRU or LSTM, over all time steps.";
  let description = [{
    `projected` [T,N,G*H] holds the inputs times their weights plus their bias,
    gates in ONNX's order (rnn: h; gru: z r h; lstm: i o f c); `weights` [G*H,H]
    and `bias` [G*H] belong to the hidden state. With g = projected[t]:

      rnn:  h = f(g + R h + b)
      gru:  z, r = f(g + R h + b);  n = a(gn + Rn (r * h) + bn), or with
            `linear_before_reset` a(gn + r * (Rn h + bn));  h = (1 - z) * n + z * h
      lstm: i, f, o = f(g + R h + b + P * c), n = a(gn + Rn h + bn)
            c = f * c + i * n;  h = o * u(c)   (o sees the new c)

    Steps at or after `lengths[n]` leave the state alone and give 0. With
    `reverse`, time runs from the last valid step to the first. Results: every
    h [T,N,H], the last h [N,H] and the last c [N,H] (rnn, gru: the last h again).

    Constraints:
      C1. projected has rank 3, weights rank 2, with G = 1, 3 or 4 gates
      C2. activations: one name for rnn, two for gru, three for lstm
      C3. bias is [G*H], initial_h and initial_c [N,H], lengths [N], peepholes [3*H]

    Source: ONNX operators RNN, GRU and LSTM, opset 22.
  }];
  let arguments = (ins AnyRankedTensor:$projected, AnyRankedTensor:$weights,
    AnyRankedTensor:$bias, AnyRankedTensor:$initial_h, AnyRankedTensor:$initial_c,
    Optional<AnyRankedTensor>:$lengths, Optional<AnyRankedTensor>:$peepholes,
    Dl_RecurrentKind:$kind, StrArrayAttr:$activations, F64ArrayAttr:$alphas,
    F64ArrayAttr:$betas, UnitAttr:$reverse, UnitAttr:$linear_before_reset,
    UnitAttr:$input_forget, OptionalAttr<F64Attr>:$clip);
  let results = (outs AnyRankedTensor:$sequence, AnyRankedTensor:$last_h,
                      AnyRankedTensor:$last_c);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DLC_DIALECTS_DL_OPS_RECURRENT_TD
