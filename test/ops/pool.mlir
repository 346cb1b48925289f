// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// With a stride larger than the window, ceil mode drops a last window for some
// sizes even without padding: 5 elements give 2 windows, 7 give 3.

func.func @ceil_depends_on_size(%x: tensor<1x1x?xf32>) -> tensor<1x1x?xf32> {
  // expected-error@+1 {{ceil_mode with the stride 3 and a window of 1 on an axis of symbolic size}}
  %y = dl.pool %x {kind = 3 : i32, kernel = array<i64: 1>, strides = array<i64: 3>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, ceil_mode = true, count_include_pad = false}
     : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  return %y : tensor<1x1x?xf32>
}

// -----

// A window that the stride cannot jump over is fine, padding or not.

func.func @ceil_is_decided(%x: tensor<1x1x?xf32>) -> tensor<1x1x?xf32> {
  %y = dl.pool %x {kind = 3 : i32, kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 1>, ceil_mode = true, count_include_pad = false}
     : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  return %y : tensor<1x1x?xf32>
}
