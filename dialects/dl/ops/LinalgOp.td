// The base of ops that are no elementwise function: one that infers its result
// and lowers itself.

#ifndef DLC_DIALECTS_DL_OPS_LINALGOP_TD
#define DLC_DIALECTS_DL_OPS_LINALGOP_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dl_LinalgOp<string mnemonic, list<Trait> traits = []>
    : Dl_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>] # traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Dl_SingleResultOp<string mnemonic, list<Trait> traits = []>
    : Dl_LinalgOp<mnemonic, [DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>] # traits> {
  let results = (outs AnyRankedTensor:$result);
}

#endif // DLC_DIALECTS_DL_OPS_LINALGOP_TD
