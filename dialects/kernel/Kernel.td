// Dialect `kernel`: what the data of one kernel mean, where tensor and memref have no
// word for it.

#ifndef DLC_DIALECTS_KERNEL_KERNEL_TD
#define DLC_DIALECTS_KERNEL_KERNEL_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::dlc::kernel";
  let summary = "Views of a kernel's tensors and buffers that MLIR has no op for.";
}

def Kernel_TensorOrBuffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

def Kernel_PaddedOp : Op<Kernel_Dialect, "padded",
    [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface, ["getViewSource"]>,
     DeclareOpInterfaceMethods<BufferizableOpInterface,
       ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "isWritable",
        "getBufferType", "bufferize"]>]> {
  let summary = "The same data with a border around them that takes no memory.";
  let description = [{
    Element `[i, j, ...]` is `source[i - low[0], j - low[1], ...]` where the source
    has such an element, and `value` elsewhere. It can be read, never written. Axis
    `a` has `low[a] + size(source, a) + high[a]` elements. Unlike `tensor.pad` it
    makes no copy: whoever reads it asks at every element on which side it is.

    ```mlir
    %1 = kernel.padded %0 low [0, 1] high [0, 1] value 0.0 : f32
           : tensor<4x6xf32> to tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Kernel_TensorOrBuffer:$source, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, TypedAttrInterface:$value);
  let results = (outs Kernel_TensorOrBuffer:$result);
  let assemblyFormat = [{
    $source `low` $low `high` $high `value` $value attr-dict
    `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

#endif // DLC_DIALECTS_KERNEL_KERNEL_TD
