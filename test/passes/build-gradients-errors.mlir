// RUN: dlc-opt %s --dl-build-gradients --split-input-file --verify-diagnostics

func.func @loss_is_no_scalar(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{loss has the type 'tensor<2xf32>', expects one float}}
  %y = dl.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @no_gradient(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'dl.bitcast' op has no gradient, and the loss depends on the trained values through it}}
  %i = dl.bitcast %x {to = f32} : (tensor<f32>) -> tensor<f32>
  return %i : tensor<f32>
}
