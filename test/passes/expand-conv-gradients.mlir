// RUN: dlc-opt %s --dl-expand-conv-gradients --split-input-file | FileCheck %s

// Stride 1: one convolution with the flipped filter.

// CHECK-LABEL: @stride_one(
// CHECK:         dl.transpose
// CHECK-COUNT-2: dl.slice
// CHECK:         dl.conv %arg0, {{.*}}pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x4x8x8xf32>, tensor<3x4x3x3xf32>) -> tensor<?x3x8x8xf32>
// CHECK-NOT:     dl.conv_transpose
func.func @stride_one(%y: tensor<?x4x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x3x8x8xf32> {
  %x = dl.conv_transpose %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<?x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x3x8x8xf32>
  return %x : tensor<?x3x8x8xf32>
}

// -----

// Stride 2: the four phases are channels of one convolution, interleaved.

// CHECK-LABEL: @phases(
// CHECK:         dl.pad
// CHECK:         dl.conv %arg0, {{.*}} : (tensor<2x4x4x4xf32>, tensor<12x4x2x2xf32>) -> tensor<2x12x5x5xf32>
// CHECK:         dl.transpose {{.*}}permutation = array<i64: 0, 1, 4, 5, 2, 6, 3>
// CHECK-COUNT-2: dl.slice
// CHECK-NOT:     dl.conv_transpose
func.func @phases(%y: tensor<2x4x4x4xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32> {
  %x = dl.conv_transpose %y, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<2x4x4x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32>
  return %x : tensor<2x3x8x8xf32>
}

// -----

// CHECK-LABEL: @filter(
// CHECK:         %[[P:.+]] = dl.patches {{.*}} -> tensor<?x8x8x3x3x3xf32>
// CHECK:         dl.matmul %{{.*}}, %{{.*}} {transpose_lhs} : (tensor<?x27xf32>, tensor<?x4xf32>) -> tensor<27x4xf32>
// CHECK-NOT:     dl.conv_filter_gradient
func.func @filter(%x: tensor<?x3x8x8xf32>, %y: tensor<?x4x8x8xf32>) -> tensor<4x3x3x3xf32> {
  %w = dl.conv_filter_gradient %x, %y {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
    : (tensor<?x3x8x8xf32>, tensor<?x4x8x8xf32>) -> tensor<4x3x3x3xf32>
  return %w : tensor<4x3x3x3xf32>
}

// -----

// The register tiles are of f32.

// CHECK-LABEL: @keeps_doubles(
// CHECK:         dl.conv_transpose
func.func @keeps_doubles(%y: tensor<2x4x8xf64>, %w: tensor<4x3x3xf64>) -> tensor<2x3x10xf64> {
  %x = dl.conv_transpose %y, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: 0>, groups = 1 : i64}
    : (tensor<2x4x8xf64>, tensor<4x3x3xf64>) -> tensor<2x3x10xf64>
  return %x : tensor<2x3x10xf64>
}

// -----

// Pads beyond the filter's reach would cut the input.

// CHECK-LABEL: @keeps_cut_input(
// CHECK:         dl.conv_transpose
func.func @keeps_cut_input(%y: tensor<2x4x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x3x4xf32> {
  %x = dl.conv_transpose %y, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 3, 3>, output_padding = array<i64: 0>, groups = 1 : i64}
    : (tensor<2x4x8xf32>, tensor<4x3x3xf32>) -> tensor<2x3x4xf32>
  return %x : tensor<2x3x4xf32>
}
