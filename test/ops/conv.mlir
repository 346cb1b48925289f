// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// conv C1
func.func @c1_rank(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{input has rank 4 and filter rank 3, expects the same, 3 to 5}}
  %y = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// conv C2
func.func @c2_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x5x1x1xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{input channels and filter channels times groups: 3 and 5 differ}}
  %y = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x5x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// conv C3
func.func @c3_groups(%x: tensor<1x4x8x8xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x8x8xf32> {
  // expected-error@+1 {{filter has 3 output channels, not a multiple of 2 groups}}
  %y = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 2 : i64}
     : (tensor<1x4x8x8xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %y : tensor<1x3x8x8xf32>
}

// -----

// conv C4
func.func @c4_stride(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  // expected-error@+1 {{strides must be positive}}
  %y = dl.conv %x, %w {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// conv C5
func.func @c5_window(%x: tensor<1x3x2x2xf32>, %w: tensor<4x3x5x5xf32>) -> tensor<1x4x1x1xf32> {
  // expected-error@+1 {{filter is larger than the padded input along spatial axis 0}}
  %y = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
     : (tensor<1x3x2x2xf32>, tensor<4x3x5x5xf32>) -> tensor<1x4x1x1xf32>
  return %y : tensor<1x4x1x1xf32>
}
