// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// States of another batch than the input's were once read past their end.

// recurrent C3
func.func @c3_initial_h(%p: tensor<4x5x2xf32>, %r: tensor<2x2xf32>, %b: tensor<2xf32>, %h: tensor<2x2xf32>, %c: tensor<5x2xf32>) -> tensor<4x5x2xf32> {
  // expected-error@+1 {{axis 0 of initial_h: 2 and 5 differ}}
  %y:3 = "dl.recurrent"(%p, %r, %b, %h, %c) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, kind = 0 : i32, activations = ["Tanh"], alphas = [0.0], betas = [0.0]}
     : (tensor<4x5x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<5x2xf32>) -> (tensor<4x5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
  return %y#0 : tensor<4x5x2xf32>
}

// -----

// recurrent C3
func.func @c3_bias(%p: tensor<4x5x2xf32>, %r: tensor<2x2xf32>, %b: tensor<1xf32>, %h: tensor<5x2xf32>) -> tensor<4x5x2xf32> {
  // expected-error@+1 {{axis 0 of bias: 1 and 2 differ}}
  %y:3 = "dl.recurrent"(%p, %r, %b, %h, %h) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, kind = 0 : i32, activations = ["Tanh"], alphas = [0.0], betas = [0.0]}
     : (tensor<4x5x2xf32>, tensor<2x2xf32>, tensor<1xf32>, tensor<5x2xf32>, tensor<5x2xf32>) -> (tensor<4x5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
  return %y#0 : tensor<4x5x2xf32>
}

// -----

// recurrent C3
func.func @c3_lengths(%p: tensor<4x5x2xf32>, %r: tensor<2x2xf32>, %b: tensor<2xf32>, %h: tensor<5x2xf32>, %l: tensor<2xi64>) -> tensor<4x5x2xf32> {
  // expected-error@+1 {{axis 0 of lengths: 2 and 5 differ}}
  %y:3 = "dl.recurrent"(%p, %r, %b, %h, %h, %l) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, kind = 0 : i32, activations = ["Tanh"], alphas = [0.0], betas = [0.0]}
     : (tensor<4x5x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<2xi64>) -> (tensor<4x5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
  return %y#0 : tensor<4x5x2xf32>
}
