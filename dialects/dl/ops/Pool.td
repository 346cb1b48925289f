// Pooling windows. Their C++ half is Pool.cpp, next to this file.

#ifndef DLC_DIALECTS_DL_OPS_POOL_TD
#define DLC_DIALECTS_DL_OPS_POOL_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Enums.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dl_PoolOp : Dl_Op<"pool", [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>,
    DeclareOpInterfaceMethods<Dl_Differentiable>,
    DeclareOpInterfaceMethods<Dl_LayoutAware, ["prefersChannelsLast", "permuteLayout"]>]> {
  let summary = "Maximum, average or sum of squares over sliding windows.";
  let description = [{
    `kind` max: the largest element of the window, NaN if any is; padding never
    counts. mean: the sum over the number of elements, where padding counts only
    with `count_include_pad` and what lies past the padded edge (ceil mode)
    never. `ceil_mode` rounds the number of windows up and drops a last window
    that would start in the high padding. `input` is N,C,spatial.. or, with
    `channels_last`, N,spatial..,C.

    Constraints:
      C1. the rank is 3 to 5, with one kernel size, stride and dilation (all > 0)
          per spatial axis and two pads
      C2. pads are not negative and smaller than the dilated kernel
      C3. the padded input is at least as large as the window
  }];
  let arguments = (ins AnyRankedTensor:$input, Dl_ReduceKind:$kind,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$pads, BoolAttr:$ceil_mode, BoolAttr:$count_include_pad,
    UnitAttr:$channels_last);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    int64_t spatialRank() { return getKernel().size(); }
    int64_t spatialAxis() { return getChannelsLast() ? 1 : 2; }
  }];
}

#endif // DLC_DIALECTS_DL_OPS_POOL_TD
