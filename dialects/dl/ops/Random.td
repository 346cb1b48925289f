// Random numbers. Their C++ half is Random.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_RANDOM_TD
#define DLC_DIALECTS_DL_OPS_RANDOM_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Not Pure: two draws are two draws, never merged and never folded.
def Dl_RandomOp : Dl_Op<"random", [
    DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>]> {
  let summary = "Independent random numbers, uniform in [0, 1) or standard normal.";
  let description = [{
    Counter-based: element i is a function of (`seed`, `stream`, i) alone, so
    the numbers do not depend on the number of threads and every run of an
    artifact draws the same. With a `counter`, an i64 of rank 0, they are a function of
    its value too. The result has the sizes that `shape` holds.

    Constraints:
      C1. `shape` is an i64 vector of static length
      C2. `element` is a float type
      C3. `counter` is an i64 of rank 0

    Source: Philox4x32-10 (Salmon et al., SC 2011); normals by Box and Muller.
  }];
  let arguments = (ins AnyRankedTensor:$shape, Optional<AnyRankedTensor>:$counter, TypeAttr:$element, BoolAttr:$normal,
                       I64Attr:$seed, I64Attr:$stream);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DLC_DIALECTS_DL_OPS_RANDOM_TD
