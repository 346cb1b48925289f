// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// conv_filter_gradient C1
func.func @conv_filter_gradient_c1_0(%x: tensor<2x3x8xf32>, %g: tensor<2x4x6x1xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{input has rank 3 and type}}
  %y = dl.conv_filter_gradient %x, %g {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x4x6x1xf32>) -> tensor<4x3x3xf32>
  return %y : tensor<4x3x3xf32>
}

// -----

// conv_filter_gradient C2
func.func @conv_filter_gradient_c2_1(%x: tensor<2x3x8xf32>, %g: tensor<3x4x6xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{batch sizes: 2 and 3 differ}}
  %y = dl.conv_filter_gradient %x, %g {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x3x8xf32>, tensor<3x4x6xf32>) -> tensor<4x3x3xf32>
  return %y : tensor<4x3x3xf32>
}

// -----

// conv_filter_gradient C2
func.func @conv_filter_gradient_c2_2(%x: tensor<2x3x8xf32>, %g: tensor<2x4x6xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{channels are not a multiple of 2 groups}}
  %y = dl.conv_filter_gradient %x, %g {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x4x6xf32>) -> tensor<4x3x3xf32>
  return %y : tensor<4x3x3xf32>
}

// -----

// conv_filter_gradient C3
func.func @conv_filter_gradient_c3_3(%x: tensor<2x3x8xf32>, %g: tensor<2x4x6xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{needs a positive kernel size}}
  %y = dl.conv_filter_gradient %x, %g {kernel = array<i64: 3>, strides = array<i64: 0>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x4x6xf32>) -> tensor<4x3x3xf32>
  return %y : tensor<4x3x3xf32>
}

// -----

// conv_filter_gradient C4
func.func @conv_filter_gradient_c4_4(%x: tensor<2x3x8xf32>, %g: tensor<2x4x7xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{size of grad along spatial axis 0: 7 and 6 differ}}
  %y = dl.conv_filter_gradient %x, %g {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x4x7xf32>) -> tensor<4x3x3xf32>
  return %y : tensor<4x3x3xf32>
}

// -----

// patches C1
func.func @patches_c1_5(%x: tensor<2x8x4xf32>) -> tensor<2x6x3x4xf32> {
  // expected-error @below {{needs a positive kernel size}}
  %y = dl.patches %x {kernel = array<i64: 0>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<2x8x4xf32>) -> tensor<2x6x3x4xf32>
  return %y : tensor<2x6x3x4xf32>
}

// -----

// patches C2
func.func @patches_c2_6(%x: tensor<2x2x4xf32>) -> tensor<2x1x3x4xf32> {
  // expected-error @below {{window is larger than the padded input}}
  %y = dl.patches %x {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<2x2x4xf32>) -> tensor<2x1x3x4xf32>
  return %y : tensor<2x1x3x4xf32>
}

// -----

// pool_gradient C1
func.func @pool_gradient_c1_7(%g: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  %s = dl.constant dense<[2, 3, 8]> : tensor<3xi64>
  // expected-error @below {{is of kind max without an input}}
  %y = dl.pool_gradient %g, %s {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, ceil_mode = false, count_include_pad = false, kind = 3 : i32} : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// pool_gradient C2
func.func @pool_gradient_c2_8(%g: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  %s = dl.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error @below {{shape has 2 elements, expects 3}}
  %y = dl.pool_gradient %g, %s {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, ceil_mode = false, count_include_pad = false, kind = 1 : i32} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// pool_gradient C3
func.func @pool_gradient_c3_9(%g: tensor<2x3x4xf32>) -> tensor<2x3x10xf32> {
  %s = dl.constant dense<[2, 3, 10]> : tensor<3xi64>
  // expected-error @below {{size of grad along axis 2: 4 and 5 differ}}
  %y = dl.pool_gradient %g, %s {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, ceil_mode = false, count_include_pad = false, kind = 1 : i32} : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<2x3x10xf32>
  return %y : tensor<2x3x10xf32>
}

// -----

// unslice C1
func.func @unslice_c1_10(%x: tensor<2xf32>) -> tensor<5xf32> {
  %b = dl.constant dense<[[0], [2]]> : tensor<2x1xi64>
  %s = dl.constant dense<[5]> : tensor<1xi64>
  // expected-error @below {{bounds must be 3 x 1 elements of type i64}}
  %y = dl.unslice %x, %b, %s : (tensor<2xf32>, tensor<2x1xi64>, tensor<1xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// unslice C2
func.func @unslice_c2_11(%x: tensor<2xf32>) -> tensor<5xf32> {
  %b = dl.constant dense<[[0], [2], [1]]> : tensor<3x1xi64>
  %s = dl.constant dense<[5, 1]> : tensor<2xi64>
  // expected-error @below {{shape has 2 elements, expects 1}}
  %y = dl.unslice %x, %b, %s : (tensor<2xf32>, tensor<3x1xi64>, tensor<2xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// unslice C3
func.func @unslice_c3_12(%x: tensor<2xf32>) -> tensor<5xf32> {
  %b = dl.constant dense<[[0], [3], [1]]> : tensor<3x1xi64>
  %s = dl.constant dense<[5]> : tensor<1xi64>
  // expected-error @below {{size of input along axis 0: 2 and 3 differ}}
  %y = dl.unslice %x, %b, %s : (tensor<2xf32>, tensor<3x1xi64>, tensor<1xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// recurrent_gradient C1
func.func @recurrent_gradient_c1_13(%a0: tensor<4x3x2xf32>, %a1: tensor<5x3x2xf32>, %a2: tensor<2x2xf32>, %a3: tensor<2xf32>, %a4: tensor<4x3x2xf32>, %a5: tensor<3x2xf32>, %a6: tensor<4x3x2xf32>, %a7: tensor<3x2xf32>, %a8: tensor<3x2xf32>) -> tensor<4x3x2xf32> {
  // expected-error @below {{axis 0 of recurrent: 5 and 4 differ}}
  %y:5 = dl.recurrent_gradient %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8 {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0>, kind = 0 : i32, activations = ["Tanh"], alphas = [0.0], betas = [0.0]}
    : (tensor<4x3x2xf32>, tensor<5x3x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4x3x2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>)
  return %y#0 : tensor<4x3x2xf32>
}

// -----

// recurrent_gradient C2
func.func @recurrent_gradient_c2_14(%a0: tensor<4x3x2xf32>, %a1: tensor<4x3x2xf32>, %a2: tensor<2x2xf32>, %a3: tensor<2xf32>, %a4: tensor<4x1x2xf32>, %a5: tensor<3x2xf32>, %a6: tensor<4x3x2xf32>, %a7: tensor<3x2xf32>, %a8: tensor<3x2xf32>) -> tensor<4x3x2xf32> {
  // expected-error @below {{axis 1 of previous_h: 1 and 3 differ}}
  %y:5 = dl.recurrent_gradient %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8 {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0>, kind = 0 : i32, activations = ["Tanh"], alphas = [0.0], betas = [0.0]}
    : (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4x1x2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>)
  return %y#0 : tensor<4x3x2xf32>
}
