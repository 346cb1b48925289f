// RUN: dlc-opt %s --dl-fold-scale --split-input-file | FileCheck %s

// A batch norm after a convolution is a scale and an offset: the scale moves
// into the filter, the offset stays as a bias.

// CHECK-LABEL: @folds_scale(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK:         %[[W:.+]] = dl.mul %{{.*}}, %{{.*}} : (tensor<4x3x1x1xf32>, tensor<4x1x1x1xf32>)
// CHECK:         %[[C:.+]] = dl.conv %[[X]], %[[W]]
// CHECK:         dl.add %[[C]],
// CHECK-NOT:     dl.mul
func.func @folds_scale(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = dl.constant dense<1.0> : tensor<4x3x1x1xf32>
  %s = dl.constant dense<2.0> : tensor<4x1x1xf32>
  %o = dl.constant dense<0.5> : tensor<4x1x1xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %m = dl.mul %c, %s : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %y = dl.add %m, %o : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// The convolution is read elsewhere without the scale.

// CHECK-LABEL: @keeps_shared_convolution(
// CHECK:         dl.conv
// CHECK:         dl.mul %{{.*}} : (tensor<1x4x8x8xf32>
func.func @keeps_shared_convolution(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %w = dl.constant dense<1.0> : tensor<4x3x1x1xf32>
  %s = dl.constant dense<2.0> : tensor<4x1x1xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %m = dl.mul %c, %s : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %c, %m : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// -----

// A scale along the width is not one number per channel.

// CHECK-LABEL: @keeps_scale_of_another_axis(
// CHECK:         dl.conv
// CHECK:         dl.mul %{{.*}} : (tensor<1x4x8x8xf32>, tensor<8xf32>)
func.func @keeps_scale_of_another_axis(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = dl.constant dense<1.0> : tensor<4x3x1x1xf32>
  %s = dl.constant dense<2.0> : tensor<8xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %m = dl.mul %c, %s : (tensor<1x4x8x8xf32>, tensor<8xf32>) -> tensor<1x4x8x8xf32>
  return %m : tensor<1x4x8x8xf32>
}

// -----

// In training the filter is an argument: folding would only move the work.

// CHECK-LABEL: @keeps_trainable_filter(
// CHECK:         dl.conv
// CHECK:         dl.mul %{{.*}} : (tensor<1x4x8x8xf32>
func.func @keeps_trainable_filter(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %s = dl.constant dense<2.0> : tensor<4x1x1xf32>
  %c = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %m = dl.mul %c, %s : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %m : tensor<1x4x8x8xf32>
}
