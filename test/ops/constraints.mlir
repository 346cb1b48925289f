// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// One breach of every constraint that no test beside this one breaks.

// matmul C1
func.func @f(%a: tensor<4xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{operands have the ranks 1 and 2, expects 2 or more}}
  %y = dl.matmul %a, %b : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  return
}

// -----

// matmul C2
func.func @f(%a: tensor<3x4xf32>, %b: tensor<5x2xf32>) {
  // expected-error @+1 {{inner sizes: 4 and 5 differ}}
  %y = dl.matmul %a, %b : (tensor<3x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

// matmul C3
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<3x4x2xf32>) {
  // expected-error @+1 {{operands do not broadcast: 2 and 3 differ}}
  %y = dl.matmul %a, %b : (tensor<2x3x4xf32>, tensor<3x4x2xf32>) -> tensor<2x3x2xf32>
  return
}

// -----

// reduce C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 1 is outside the rank 2 or given twice}}
  %y = dl.reduce %x {kind = 0 : i32, axes = array<i64: 1, 1>, keep_dims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// reduce C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside the rank 2 or given twice}}
  %y = dl.reduce %x {kind = 0 : i32, axes = array<i64: 2>, keep_dims = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// arg_reduce C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside the rank 2 or given twice}}
  %y = dl.arg_reduce %x {axis = 2 : i64, keep_dims = false, largest = true, select_last = false} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  return
}

// -----

// softmax C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside the rank 2 or given twice}}
  %y = dl.softmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// softmax C2
func.func @f(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{takes floats, not 'i32'}}
  %y = dl.softmax %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

// pool C1
func.func @f(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{has 1 kernel sizes, 1 strides, 1 dilations and 2 pads for an input of rank 2}}
  %y = dl.pool %x {kind = 3 : i32, kernel = array<i64: 1>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil_mode = false, count_include_pad = false} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

// pool C1
func.func @f(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{kernel sizes, strides and dilations must be positive}}
  %y = dl.pool %x {kind = 3 : i32, kernel = array<i64: 2>, strides = array<i64: 0>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil_mode = false, count_include_pad = false} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

// pool C2
func.func @f(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{pads 2 and 0 must be smaller than the window of 2}}
  %y = dl.pool %x {kind = 3 : i32, kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 2, 0>, dilations = array<i64: 1>, ceil_mode = false, count_include_pad = false} : (tensor<1x1x4xf32>) -> tensor<1x1x5xf32>
  return
}

// -----

// pool C3
func.func @f(%x: tensor<1x1x2xf32>) {
  // expected-error @+1 {{window of 3 is larger than the padded input of 2}}
  %y = dl.pool %x {kind = 3 : i32, kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil_mode = false, count_include_pad = false} : (tensor<1x1x2xf32>) -> tensor<1x1x0xf32>
  return
}

// -----

// conv_transpose C1
func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x1xf32>) {
  // expected-error @+1 {{input has rank 4 and filter rank 3, expects the same, 3 to 5}}
  %y = dl.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<3x4x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

// conv_transpose C2
func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<5x4x1x1xf32>) {
  // expected-error @+1 {{input and filter channels: 3 and 5 differ}}
  %y = dl.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<5x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

// conv_transpose C3
func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x1x1xf32>) {
  // expected-error @+1 {{has 1 strides, 2 dilations and 4 pads for 2 spatial axes}}
  %y = dl.conv_transpose %x, %w {strides = array<i64: 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<3x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

// pack_filter C1
func.func @f(%w: tensor<3x2x1x1xf32>) {
  // expected-error @+1 {{cannot pack this filter into 2 groups of blocks of 16}}
  %p = dl.pack_filter %w {groups = 2 : i64, block = 16 : i64} : (tensor<3x2x1x1xf32>) -> tensor<1x1x1x2x16xf32>
  return
}

// -----

// packed_conv C1
func.func @f(%x: tensor<1x8x8x2xf32>, %w: tensor<1x1x2x16xf32>) {
  // expected-error @+1 {{input has rank 4 and filter rank 4 for 2 spatial axes}}
  %y = dl.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64, out_channels = 16 : i64} : (tensor<1x8x8x2xf32>, tensor<1x1x2x16xf32>) -> tensor<1x8x8x16xf32>
  return
}

// -----

// packed_conv C2
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<1x1x1x2x16xf32>) {
  // expected-error @+1 {{input channels and filter channels times groups: 3 and 2 differ}}
  %y = dl.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64, out_channels = 16 : i64} : (tensor<1x8x8x3xf32>, tensor<1x1x1x2x16xf32>) -> tensor<1x8x8x16xf32>
  return
}

// -----

// packed_matmul C1
func.func @f(%x: tensor<4x2xf32>, %w: tensor<2x16xf32>) {
  // expected-error @+1 {{operands have the ranks 2 and 2}}
  %y = dl.packed_matmul %x, %w {out_channels = 16 : i64} : (tensor<4x2xf32>, tensor<2x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

// packed_matmul C2
func.func @f(%x: tensor<4x3xf32>, %w: tensor<1x2x16xf32>) {
  // expected-error @+1 {{inner sizes: 3 and 2 differ}}
  %y = dl.packed_matmul %x, %w {out_channels = 16 : i64} : (tensor<4x3xf32>, tensor<1x2x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

// depthwise_conv C1
func.func @f(%x: tensor<1x8x8x2xf32>, %w: tensor<1x1x3xf32>) {
  // expected-error @+1 {{channels: 2 and 3 differ}}
  %y = dl.depthwise_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x8x8x2xf32>, tensor<1x1x3xf32>) -> tensor<1x8x8x2xf32>
  return
}

// -----

// resolve_shape C1
func.func @f(%x: tensor<4xf32>, %s: tensor<?xi64>) {
  // expected-error @+1 {{shape must be an i64 vector of static length}}
  %y = dl.resolve_shape %x, %s : (tensor<4xf32>, tensor<?xi64>) -> tensor<?xi64>
  return
}

// -----

// broadcast_shape C1
func.func @f(%a: tensor<?xi64>, %b: tensor<1xi64>) {
  // expected-error @+1 {{lhs must be an i64 vector of static length}}
  %y = dl.broadcast_shape %a, %b : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
  return
}

// -----

// concat C1
func.func @f() {
  // expected-error @+1 {{has no operands}}
  %y = "dl.concat"() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

// kernel C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{body arguments differ from the operands in type}}
  %y = dl.kernel(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    %r = dl.constant dense<0.0> : tensor<4xf32>
    dl.yield %r : tensor<4xf32>
  }
  return
}

// -----

// kernel C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{yielded values differ from the results in type}}
  %y = dl.kernel(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    dl.yield %a : tensor<4xf32>
  }
  return
}

// -----

// loop C1
func.func @f(%t: tensor<2xi64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{trip count must be one i64 and the condition one bool}}
  %y:2 = dl.loop %t, %x {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<2xi64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    dl.yield %go, %v : tensor<i1>, tensor<4xf32>
  }
  return
}

// -----

// loop C2
func.func @f(%t: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{body has 2 arguments and yields 2 values for 1 carried ones}}
  %y:2 = dl.loop %t, %x {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    dl.yield %go, %x : tensor<i1>, tensor<4xf32>
  }
  return
}

// -----

// recurrent C1
func.func @f(%p: tensor<4x5x6xf32>, %r: tensor<2x2xf32>, %b: tensor<2xf32>, %h: tensor<5x2xf32>) {
  // expected-error @+1 {{gates: 6 and 2 differ}}
  %y:3 = "dl.recurrent"(%p, %r, %b, %h, %h) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, kind = 0 : i32, activations = ["Tanh"], alphas = [0.0], betas = [0.0]}
     : (tensor<4x5x6xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) -> (tensor<4x5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
  return
}

// -----

// recurrent C2
func.func @f(%p: tensor<4x5x2xf32>, %r: tensor<2x2xf32>, %b: tensor<2xf32>, %h: tensor<5x2xf32>) {
  // expected-error @+1 {{has 2 activations}}
  %y:3 = "dl.recurrent"(%p, %r, %b, %h, %h) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, kind = 0 : i32, activations = ["Tanh", "Tanh"], alphas = [0.0, 0.0], betas = [0.0, 0.0]}
     : (tensor<4x5x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) -> (tensor<4x5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
  return
}
