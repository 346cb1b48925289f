// RUN: dlc-opt %s --dl-infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @interpolates(
// CHECK:         dl.interpolate {{.*}} -> tensor<?x8xf32>
func.func @interpolates(%x: tensor<?x4xf32>, %p: tensor<8x2xi64>, %w: tensor<8x2xf32>) -> tensor<?x?xf32> {
  %y = dl.interpolate %x, %p, %w {axis = 1 : i64} : (tensor<?x4xf32>, tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// interpolate C1
func.func @interpolate_c1(%x: tensor<4xi32>, %p: tensor<8x2xi64>, %w: tensor<8x2xf32>) {
  // expected-error @+1 {{axis 0 does not fit rank 1 of type 'i32'}}
  %y = dl.interpolate %x, %p, %w {axis = 0 : i64} : (tensor<4xi32>, tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<8xi32>
  return
}

// -----

// interpolate C2
func.func @interpolate_c2(%x: tensor<4xf32>, %p: tensor<8xi64>, %w: tensor<8x2xf32>) {
  // expected-error @+1 {{positions must be an i64 matrix}}
  %y = dl.interpolate %x, %p, %w {axis = 0 : i64} : (tensor<4xf32>, tensor<8xi64>, tensor<8x2xf32>) -> tensor<8xf32>
  return
}

// -----

// interpolate C3
func.func @interpolate_c3(%x: tensor<4xf64>, %p: tensor<8x2xi64>, %w: tensor<8x2xf32>) {
  // expected-error @+1 {{weights must be a matrix of type 'f64'}}
  %y = dl.interpolate %x, %p, %w {axis = 0 : i64} : (tensor<4xf64>, tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<8xf64>
  return
}
