// RUN: dlc-opt %s --dl-infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @scatters(
// CHECK:         dl.scatter_elements {{.*}} -> tensor<2x3xf32>
// CHECK:         dl.scatter_nd {{.*}} -> tensor<2x3xf32>
func.func @scatters(%x: tensor<2x3xf32>, %i: tensor<1x3xi64>, %u: tensor<1x3xf32>, %j: tensor<1xi64>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = dl.scatter_elements %x, %i, %u {axis = 0 : i64, mode = 1 : i32} : (tensor<2x3xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<?x?xf32>
  %1 = dl.scatter_nd %x, %u, %j {mode = 0 : i32} : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// scatter_elements C1
func.func @scatter_elements_c1(%x: tensor<2xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) {
  // expected-error @+1 {{axis 1 and the ranks 1, 1, 1 do not fit}}
  %0 = dl.scatter_elements %x, %i, %u {axis = 1 : i64, mode = 0 : i32} : (tensor<2xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// scatter_elements C2
func.func @scatter_elements_c2(%x: tensor<2xf32>, %u: tensor<1xf32>) {
  %i = dl.constant dense<2> : tensor<1xi64>
  // expected-error @+1 {{size of the indexed axis: 2 is less than 3}}
  %0 = dl.scatter_elements %x, %i, %u {axis = 0 : i64, mode = 0 : i32} : (tensor<2xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// scatter_elements C3
func.func @scatter_elements_c3(%x: tensor<2xf32>, %i: tensor<1xi64>, %u: tensor<1xi32>) {
  // expected-error @+1 {{updates have the element type 'i32', expects 'f32'}}
  %0 = dl.scatter_elements %x, %i, %u {axis = 0 : i64, mode = 0 : i32} : (tensor<2xf32>, tensor<1xi64>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

// scatter_elements C4
func.func @scatter_elements_c4(%x: tensor<2x2xf32>, %i: tensor<1x3xi64>, %u: tensor<1x3xf32>) {
  // expected-error @+1 {{size along axis 1: 2 is less than 3}}
  %0 = dl.scatter_elements %x, %i, %u {axis = 0 : i64, mode = 0 : i32} : (tensor<2x2xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// scatter_nd C1
func.func @scatter_nd_c1(%x: tensor<2xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) {
  // expected-error @+1 {{2 coordinates do not fit rank 1}}
  %0 = dl.scatter_nd %x, %u, %i, %i {mode = 0 : i32} : (tensor<2xf32>, tensor<1xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

// scatter_nd C2
func.func @scatter_nd_c2(%x: tensor<2xf32>, %i: tensor<1xf32>, %u: tensor<1xf32>) {
  // expected-error @+1 {{indices differ in type}}
  %0 = dl.scatter_nd %x, %u, %i {mode = 0 : i32} : (tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// scatter_nd C3
func.func @scatter_nd_c3(%x: tensor<2x3xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) {
  // expected-error @+1 {{updates have rank 1 and type 'f32', expects 2}}
  %0 = dl.scatter_nd %x, %u, %i {mode = 0 : i32} : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  return
}
