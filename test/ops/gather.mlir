// RUN: dlc-opt %s --dl-infer-shapes --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Shape -> Gather -> Reshape: the batch size goes through.

// CHECK-LABEL: @batch_size(
// CHECK:         dl.reshape {{.*}} -> tensor<?x12xf32>
func.func @batch_size(%x: tensor<?x3x4xf32> {dl.dims = ["N", 3, 4]}) -> tensor<?x?xf32> {
  %s = dl.shape_of %x : (tensor<?x3x4xf32>) -> tensor<3xi64>
  %i = dl.constant dense<0> : tensor<1xi64>
  %n = dl.gather %s, %i {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = dl.constant dense<-1> : tensor<1xi64>
  %t = dl.concat %n, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %r = dl.resolve_shape %x, %t : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<2xi64>
  %y = dl.reshape %x, %r : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @gathers(
// CHECK:         dl.gather {{.*}} -> tensor<2x5x6x4xf32>
// CHECK:         dl.gather_nd {{.*}} -> tensor<7x4xf32>
func.func @gathers(%x: tensor<2x3x4xf32>, %i: tensor<5x6xi32>, %j: tensor<7xi64>) -> (tensor<?x?x?x?xf32>, tensor<?x?xf32>) {
  %0 = dl.gather %x, %i {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<5x6xi32>) -> tensor<?x?x?x?xf32>
  %1 = dl.gather_nd %x, %j, %j {batch_dims = 0 : i64} : (tensor<2x3x4xf32>, tensor<7xi64>, tensor<7xi64>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?x?x?xf32>, tensor<?x?xf32>
}

// -----

// gather C1
func.func @gather_c1(%x: tensor<2xf32>, %i: tensor<1xi64>) {
  // expected-error @+1 {{axis 1 is outside the rank 1}}
  %0 = dl.gather %x, %i {axis = 1 : i64} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return
}

// -----

// gather C2
func.func @gather_c2(%x: tensor<2xf32>) {
  %i = dl.constant dense<-3> : tensor<1xi64>
  // expected-error @+1 {{size of the indexed axis: 2 is less than 3}}
  %0 = dl.gather %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return
}

// -----

// gather_elements C1
func.func @gather_elements_c1(%x: tensor<2x2xf32>, %i: tensor<1xi64>) {
  // expected-error @+1 {{indices have rank 1, input has 2}}
  %0 = dl.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return
}

// -----

// gather_elements C2
func.func @gather_elements_c2(%x: tensor<2x2xf32>, %i: tensor<1x2xf32>) {
  // expected-error @+1 {{indices have the element type 'f32', expects integers}}
  %0 = dl.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return
}

// -----

// gather_elements C3
func.func @gather_elements_c3(%x: tensor<2x2xf32>, %i: tensor<1x3xi64>) {
  // expected-error @+1 {{size along axis 1: 2 is less than 3}}
  %0 = dl.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x2xf32>, tensor<1x3xi64>) -> tensor<1x3xf32>
  return
}

// -----

// gather_nd C1
func.func @gather_nd_c1(%x: tensor<2xf32>, %i: tensor<1xi64>) {
  // expected-error @+1 {{2 coordinates and 0 batch axes do not fit rank 1}}
  %0 = dl.gather_nd %x, %i, %i {batch_dims = 0 : i64} : (tensor<2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf32>
  return
}

// -----

// gather_nd C2
func.func @gather_nd_c2(%x: tensor<2x2xf32>, %i: tensor<1xi64>, %j: tensor<1xi32>) {
  // expected-error @+1 {{indices differ in type}}
  %0 = dl.gather_nd %x, %i, %j {batch_dims = 0 : i64} : (tensor<2x2xf32>, tensor<1xi64>, tensor<1xi32>) -> tensor<1xf32>
  return
}

// -----

// gather_nd C3
func.func @gather_nd_c3(%x: tensor<2x2xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{batch size along axis 0: 3 and 2 differ}}
  %0 = dl.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x2xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}
