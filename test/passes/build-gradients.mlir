// RUN: dlc-opt %s --dl-build-gradients --split-input-file | FileCheck %s

// A layer: the bias was broadcast along the symbolic batch and is summed over it.

// CHECK-LABEL: @layer(
// CHECK-SAME:    %[[X:.+]]: tensor<?x4xf32>, %[[W:.+]]: tensor<4x3xf32>, %[[B:.+]]: tensor<3xf32>)
// CHECK-SAME:    -> (tensor<f32>, tensor<?x4xf32>, tensor<4x3xf32>, tensor<3xf32>)
// CHECK:         %[[Y:.+]] = dl.relu
// CHECK:         %[[LOSS:.+]] = dl.reduce %[[Y]]
// CHECK:         %[[DY:.+]] = dl.expand
// CHECK:         %[[ON:.+]] = dl.compare %[[Y]]
// CHECK:         %[[DP:.+]] = dl.select %[[ON]], %[[DY]],
// CHECK:         %[[DB:.+]] = dl.reduce %[[DP]] {axes = array<i64: 0>, keep_dims = false, kind = 0 : i32} : (tensor<?x3xf32>) -> tensor<3xf32>
// CHECK:         %[[DX:.+]] = dl.matmul %[[DP]], %[[W]] {transpose_rhs} : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
// CHECK:         %[[DW:.+]] = dl.matmul %[[X]], %[[DP]] {transpose_lhs} : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
// CHECK:         return %[[LOSS]], %[[DX]], %[[DW]], %[[DB]]
func.func @layer(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
  %p = dl.matmul %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %s = dl.add %p, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %y = dl.relu %s : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %l = dl.reduce %y {kind = 0 : i32, axes = array<i64: 0, 1>, keep_dims = false} : (tensor<?x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A value with two users sums both gradients.

// CHECK-LABEL: @sums_uses(
// CHECK-SAME:    %[[X:.+]]: tensor<f32>)
// CHECK:         %[[E:.+]] = dl.exp %[[X]]
// CHECK:         %[[ONE:.+]] = dl.constant dense<1.000000e+00>
// CHECK-DAG:     %[[A:.+]] = dl.mul %[[ONE]], %[[X]]
// CHECK-DAG:     %[[B:.+]] = dl.mul %[[ONE]], %[[E]]
// CHECK:         %[[C:.+]] = dl.mul %[[A]], %[[E]]
// CHECK:         %[[DX:.+]] = dl.add %[[B]], %[[C]]
// CHECK:         return %{{.*}}, %[[DX]]
func.func @sums_uses(%x: tensor<f32>) -> tensor<f32> {
  %e = dl.exp %x : (tensor<f32>) -> tensor<f32>
  %y = dl.mul %x, %e : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Nothing is computed for what the loss does not depend on, nor for constants:
// its gradient is 0.

// CHECK-LABEL: @only_what_is_needed(
// CHECK:         %[[Y:.+]] = dl.mul
// CHECK-NEXT:    dl.tan
// CHECK-NEXT:    dl.constant dense<1.000000e+00>
// CHECK-NEXT:    dl.mul
// CHECK-NEXT:    dl.constant dense<0.000000e+00>
// CHECK-NEXT:    dl.constant dense<2>
// CHECK-NEXT:    dl.expand
// CHECK-NEXT:    return
func.func @only_what_is_needed(%x: tensor<f32>, %unused: tensor<2xf32>) -> tensor<f32> {
  %c = dl.constant dense<3.0> : tensor<f32>
  %y = dl.mul %x, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = dl.tan %x : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// One matrix for a stack of rows: one product for the whole stack.

// CHECK-LABEL: @matrix_for_all_rows(
// CHECK:         %[[DW:.+]] = dl.matmul %{{.*}}, %{{.*}} {transpose_lhs} : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
// CHECK:         return %{{.*}}, %{{.*}}, %[[DW]]
func.func @matrix_for_all_rows(%x: tensor<?x5x4xf32>, %w: tensor<4x3xf32>) -> tensor<f32> {
  %p = dl.matmul %x, %w : (tensor<?x5x4xf32>, tensor<4x3xf32>) -> tensor<?x5x3xf32>
  %l = dl.reduce %p {kind = 0 : i32, axes = array<i64: 0, 1, 2>, keep_dims = false} : (tensor<?x5x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// The mean over a symbolic batch divides by its size.

// CHECK-LABEL: @symbolic_mean(
// CHECK:         %[[S:.+]] = dl.shape_of %arg0
// CHECK:         %[[D:.+]] = dl.gather %[[S]]
// CHECK:         %[[P:.+]] = dl.reduce %[[D]] {{.*}}kind = 2
// CHECK:         %[[N:.+]] = dl.cast %[[P]] {to = f32}
// CHECK:         dl.div %{{.*}}, %[[N]]
func.func @symbolic_mean(%x: tensor<?x2xf32>) -> tensor<f32> {
  %l = dl.reduce %x {kind = 1 : i32, axes = array<i64: 0, 1>, keep_dims = false} : (tensor<?x2xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
