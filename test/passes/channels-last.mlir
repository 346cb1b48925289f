// RUN: dlc-opt %s --dl-channels-last --canonicalize --split-input-file | FileCheck %s

// Two convolutions with a relu between: one transpose in, one out.

// CHECK-LABEL: @sinks_through_elementwise(
// CHECK:         dl.transpose %{{.*}} {permutation = array<i64: 0, 2, 3, 1>}
// CHECK:         dl.conv {{.*}}channels_last
// CHECK-NEXT:    dl.relu {{.*}} : (tensor<1x8x8x4xf32>)
// CHECK-NEXT:    dl.conv {{.*}}channels_last
// CHECK-NEXT:    dl.transpose %{{.*}} {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NOT:     dl.transpose
func.func @sinks_through_elementwise(%x: tensor<1x3x8x8xf32>, %v: tensor<4x3x1x1xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %a = dl.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %b = dl.relu %a : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = dl.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %c : tensor<1x4x8x8xf32>
}

// -----

// Nothing asks for channels-last: nothing moves.

// CHECK-LABEL: @leaves_elementwise_alone(
// CHECK-NOT:     dl.transpose
func.func @leaves_elementwise_alone(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %b = dl.relu %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %b : tensor<1x3x8x8xf32>
}

// -----

// Adding a large channels-first input would cost a second transpose.

// CHECK-LABEL: @stops_at_foreign_operand(
// CHECK:         dl.conv {{.*}}channels_last
// CHECK-NEXT:    dl.transpose %{{.*}} {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT:    dl.add
func.func @stops_at_foreign_operand(%x: tensor<1x3x64x64xf32>, %r: tensor<1x4x64x64xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x64x64xf32> {
  %a = dl.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
     : (tensor<1x3x64x64xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x64x64xf32>
  %b = dl.add %a, %r : (tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32>) -> tensor<1x4x64x64xf32>
  return %b : tensor<1x4x64x64xf32>
}
