// The graph-level passes. IR before and after stands here and nowhere else.

#ifndef DLC_PASSES_PASSES_TD
#define DLC_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferShapes : Pass<"dl-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "Makes every size static that the inputs decide, and folds shape arithmetic.";
  let description = [{
    Runs ShapeAnalysis, writes the sizes it proves into the types, and replaces
    small integer tensors whose contents it knows by constants.

    ```mlir
    // Before
    %s = dl.shape_of %x : (tensor<2x3xf32>) -> tensor<?xi64>
    // After
    %s = dl.constant dense<[2, 3]> : tensor<2xi64>
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def FormKernels : Pass<"dl-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Groups ops into the kernels that the target compiles.";
  let description = [{
    Every op that computes ends up in one dl.kernel. An elementwise op joins the
    kernel of its producer when it is the producer's only user and has the same
    shape; elementwise producers join a reduction that is their only user.

    ```mlir
    // Before
    %y = dl.add %x, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = dl.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    // After
    %z = dl.kernel(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%0: tensor<4xf32>, %1: tensor<4xf32>):
      %y = dl.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %z = dl.relu %y : (tensor<4xf32>) -> tensor<4xf32>
      dl.yield %z : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
  let options = [Option<"fuse", "fuse", "bool", "true", "Let ops share a kernel">];
}

def FuseAttention : Pass<"dl-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Recognises attention that exporters wrote as products, masks and a softmax.";
  let description = [{
    The scores between the first product and the softmax may be scaled, capped
    by tanh, biased and masked, in this order, and are read by nobody else.

    ```mlir
    // Before
    %x = dl.matmul %q, %kt
    %s = dl.mul %x, %scale
    %b = dl.add %s, %bias
    %p = dl.softmax %b {axis = 3 : i64}
    %y = dl.matmul %p, %v
    // After
    %k = dl.transpose %kt {permutation = array<i64: 0, 1, 3, 2>}
    %y = dl.attention %q, %k, %v, %bias {scale = ..}
    ```
    A transpose that made `%kt` is read through. Runs after the passes that
    train: a gradient is that of the ops as they were.
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def Decompose : Pass<"dl-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite ops by simpler ones.";
  let description = [{
    ```mlir
    // Before
    %y = dl.attention %q, %k, %v {scale = 1.0 : f64}
    // After
    %x = dl.matmul %q, %k {transpose_rhs}
    %p = dl.softmax %x {axis = 3 : i64}
    %y = dl.matmul %p, %v
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
  let options = [Option<"keepKernels", "keep-kernels", "bool", "false",
                        "Leave the ops for which the CPU target has a kernel">];
}

def FoldScale : Pass<"dl-fold-scale", "::mlir::func::FuncOp"> {
  let summary = "Folds constant scales and offsets (batch normalisation) into convolutions.";
  let description = [{
    ```mlir
    // Before
    %c = dl.conv %x, %w
    %s = dl.mul %c, %scale
    // After
    %ws = dl.mul %w, %scale_along_O
    %s = dl.conv %x, %ws
    ```
    Offsets before a scale move behind it, and two offsets become one. The
    arithmetic on constants is evaluated later, once.
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def ExpandConvGradients : Pass<"dl-expand-conv-gradients", "::mlir::func::FuncOp"> {
  let summary = "Turns gradients of convolutions into convolutions and matrix products.";
  let description = [{
    A transposed convolution becomes one dense convolution whose channels hold
    every phase of the stride, interleaved afterwards; the gradient of a filter
    becomes one product over all positions.

    ```mlir
    // Before
    %dx = dl.conv_transpose %dy, %w {strides = array<i64: 1, 1>, ...}
    %dw = dl.conv_filter_gradient %x, %dy {...}
    // After
    %f = dl.slice (dl.transpose %w), flipped along every tap
    %dx = dl.conv %dy, %f {...}
    %p = dl.patches %xt {...}
    %dw = dl.matmul %p, %dyt {transpose_lhs}
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def ChannelsLast : Pass<"dl-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Computes convolutions and pooling with the channels as the last axis.";
  let description = [{
    ```mlir
    // Before
    %y = dl.conv %x, %w {...}
    %z = dl.relu %y
    // After
    %xt = dl.transpose %x {permutation = array<i64: 0, 2, 3, 1>}
    %yt = dl.conv %xt, %w {..., channels_last}
    %zt = dl.relu %yt
    %z = dl.transpose %zt {permutation = array<i64: 0, 3, 1, 2>}
    ```
    Ops that can compute on permuted operands do so where that removes
    transposes or keeps their number.
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def PackFilters : Pass<"dl-pack-filters", "::mlir::func::FuncOp"> {
  let summary = "Packs constant filters for the target's register tiles.";
  let description = [{
    ```mlir
    // Before
    %y = dl.conv %x, %w {..., channels_last}
    // After
    %p = dl.pack_filter %w {block = 32, groups = 1}
    %y = dl.packed_conv %x, %p {..., out_channels = 64}
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "f32 lanes of a vector register">];
}

def ToLinalg : Pass<"dl-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lowers every dl op of a function to linalg, for tests.";
  let description = [{
    The compiler lowers kernel by kernel; this pass lowers a function of static
    or dynamic tensors in place, so that a test can see or run the lowering.

    ```mlir
    // Before
    %y = dl.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    // After
    %y = linalg.generic ... ins(%x) outs(%init) { ... }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // DLC_PASSES_PASSES_TD
