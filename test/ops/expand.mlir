// Elementwise ops broadcast by themselves: an expansion in front of them is needless.
// RUN: dlc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @full
// CHECK-NOT:     dl.expand
// CHECK:         dl.mul %arg0, %arg1 : (tensor<4x1xf32>, tensor<4x8xf32>)
func.func @full(%x: tensor<4x1xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = dl.constant dense<[4, 8]> : tensor<2xi64>
  %e = dl.expand %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %r = dl.mul %e, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Sizes that only a run knows, of the other operand itself.
// CHECK-LABEL: func.func @symbolic
// CHECK-NOT:     dl.expand
// CHECK:         dl.add
func.func @symbolic(%x: tensor<f32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = dl.shape_of %y : (tensor<?x8xf32>) -> tensor<2xi64>
  %e = dl.expand %x, %s : (tensor<f32>, tensor<2xi64>) -> tensor<?x8xf32>
  %r = dl.add %y, %e : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// What computes on it alone does so before.
// CHECK-LABEL: func.func @alone
// CHECK:         %[[N:.*]] = dl.neg %arg0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK:         dl.expand %[[N]]
func.func @alone(%x: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %s = dl.constant dense<[4, 8]> : tensor<2xi64>
  %e = dl.expand %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %r = dl.neg %e : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Both are small: the sizes come from the expansion.
// CHECK-LABEL: func.func @needed
// CHECK:         dl.expand
func.func @needed(%x: tensor<4x1xf32>, %y: tensor<1x8xf32>, %z: tensor<1x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %s = dl.constant dense<[4, 8]> : tensor<2xi64>
  %e = dl.expand %z, %s : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %r = dl.mul %e, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %t = dl.mul %e, %x : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %r, %t : tensor<4x8xf32>, tensor<4x8xf32>
}
