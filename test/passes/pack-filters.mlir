// RUN: dlc-opt %s --dl-pack-filters=lanes=16 --split-input-file | FileCheck %s

// CHECK-LABEL: @packs_convolution(
// CHECK:         %[[P:.+]] = dl.pack_filter %{{.*}} {block = 32 : i64, groups = 1 : i64} : (tensor<40x3x1x1xf32>) -> tensor<2x1x1x3x32xf32>
// CHECK:         dl.packed_conv %{{.*}}, %[[P]] {{.*}}out_channels = 40
func.func @packs_convolution(%x: tensor<1x8x8x3xf32>) -> tensor<1x8x8x40xf32> {
  %w = dl.constant dense<1.0> : tensor<40x3x1x1xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64, channels_last}
     : (tensor<1x8x8x3xf32>, tensor<40x3x1x1xf32>) -> tensor<1x8x8x40xf32>
  return %c : tensor<1x8x8x40xf32>
}

// -----

// CHECK-LABEL: @depthwise(
// CHECK:         dl.depthwise_conv %{{.*}} : (tensor<1x8x8x4xf32>, tensor<3x3x4xf32>)
func.func @depthwise(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %w = dl.constant dense<1.0> : tensor<4x1x3x3xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 4 : i64, channels_last}
     : (tensor<1x8x8x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x8x8x4xf32>
  return %c : tensor<1x8x8x4xf32>
}

// -----

// Channels-first activations have no packed kernel.

// CHECK-LABEL: @keeps_channels_first(
// CHECK:         dl.conv
func.func @keeps_channels_first(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = dl.constant dense<1.0> : tensor<4x3x1x1xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %c : tensor<1x4x8x8xf32>
}

// -----

// f64 has no register tiles.

// CHECK-LABEL: @keeps_double(
// CHECK:         dl.matmul
func.func @keeps_double(%x: tensor<2x3xf64>) -> tensor<2x4xf64> {
  %w = dl.constant dense<1.0> : tensor<3x4xf64>
  %y = dl.matmul %x, %w : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// -----

// CHECK-LABEL: @packs_constant_product(
// CHECK:         dl.packed_matmul
func.func @packs_constant_product(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = dl.constant dense<1.0> : tensor<3x4xf32>
  %e = dl.exp %w : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = dl.matmul %x, %e : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A computed right side is packed by the kernel itself, while it runs.

// CHECK-LABEL: @keeps_computed_product(
// CHECK:         dl.matmul
// CHECK-NOT:     dl.pack_filter
func.func @keeps_computed_product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %e = dl.exp %w : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = dl.matmul %x, %e : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
