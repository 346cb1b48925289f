// Contractions whose filter is laid out for register tiles: what the layout
// passes turn dl.conv and dl.matmul into. Activations are channels-last.

#ifndef DLC_DIALECTS_DL_OPS_PACKED_TD
#define DLC_DIALECTS_DL_OPS_PACKED_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dl_PackedOp<string mnemonic, list<Trait> traits = []> : Dl_Op<mnemonic, [
    Pure, DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>,
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg", "fusionRole"]>] # traits> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Dl_PackFilterOp : Dl_PackedOp<"pack_filter"> {
  let summary = "Lays a filter out in blocks of output channels.";
  let description = [{
    `filter` is O,I,k.. (a matrix product's right side is O,I). The result is
    [groups * blocks, k.., I, block] with blocks = ceil(O / groups / block):

      result[g * blocks + j / block, k.., c, j mod block] = filter[g * O/groups + j, c, k..]

    and 0 beyond the last channel of a group.

    Constraints:
      C1. the filter is static, O is a multiple of groups, block > 0
  }];
  let arguments = (ins AnyRankedTensor:$filter, I64Attr:$groups, I64Attr:$block);
}

def Dl_PackedConvOp : Dl_PackedOp<"packed_conv", [DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "dl.conv, channels-last, with a packed filter.";
  let description = [{
    `input` is N,spatial..,C with one or two spatial axes, `filter` as
    dl.pack_filter makes it, `out_channels` the number that exist.

    Constraints:
      C1. one or two spatial axes; the filter has their rank + 3
      C2. input.C == filter.I * groups
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    I64Attr:$groups, I64Attr:$out_channels);
  let extraClassDeclaration = "int64_t spatialRank() { return getStrides().size(); }";
}

def Dl_PackedMatMulOp : Dl_PackedOp<"packed_matmul", [DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "Matrix product with a packed right side.";
  let description = [{
    result[.., m, n] = sum(k) lhs[.., m, k] * filter[n / block, k, n mod block]

    Constraints:
      C1. lhs has rank 1 or more, the filter rank 3
      C2. lhs's last size == filter.I
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$filter, I64Attr:$out_channels);
}

def Dl_DepthwiseConvOp : Dl_PackedOp<"depthwise_conv", [DeclareOpInterfaceMethods<Dl_HasCost>]> {
  let summary = "Convolution of every channel by itself, channels-last.";
  let description = [{
    `input` is N,H,W,C, `filter` is KH,KW,C:

      result[n,y,x,c] = sum(i,j) input[n, y*s0 + i*d0 - p0, x*s1 + j*d1 - p1, c] * filter[i,j,c]

    Constraints:
      C1. input has rank 4, the filter rank 3, with the same channels
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads);
}

#endif // DLC_DIALECTS_DL_OPS_PACKED_TD
