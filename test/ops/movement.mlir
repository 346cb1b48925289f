// RUN: dlc-opt %s --dl-infer-shapes --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Shape -> Gather -> Concat -> Reshape, as exporters write it, stays symbolic.

// CHECK-LABEL: @reshape_keeps_symbols(
// CHECK:         dl.reshape {{.*}} -> tensor<?x12xf32>
func.func @reshape_keeps_symbols(%x: tensor<?x3x4xf32> {dl.dims = ["N", 3, 4]}) -> tensor<?x?xf32> {
  %r = dl.constant dense<[0, -1]> : tensor<2xi64>
  %s = dl.resolve_shape %x, %r : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<2xi64>
  %y = dl.reshape %x, %s : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @identity_reshape_folds(
// CHECK-SAME:    %[[X:.+]]: tensor<2x3xf32>
// CHECK-NEXT:    return %[[X]]
func.func @identity_reshape_folds(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = dl.constant dense<[2, -1]> : tensor<2xi64>
  %y = dl.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @transposes_compose(
// CHECK-SAME:    %[[X:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT:    return %[[X]]
func.func @transposes_compose(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = dl.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = dl.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @sizes_through_concat(
// CHECK:         dl.expand {{.*}} -> tensor<?x1x5xf32>
func.func @sizes_through_concat(%x: tensor<?x2xf32> {dl.dims = ["N", 2]}, %y: tensor<1x5xf32>) -> tensor<?x?x?xf32> {
  %s = dl.shape_of %x : (tensor<?x2xf32>) -> tensor<2xi64>
  %one = dl.constant dense<1> : tensor<1xi64>
  %t = dl.concat %s, %one {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %two = dl.constant dense<[1, 2, 1]> : tensor<3xi64>
  %q = dl.div %t, %two : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %own = dl.shape_of %y : (tensor<1x5xf32>) -> tensor<2xi64>
  %b = dl.broadcast_shape %q, %own : (tensor<3xi64>, tensor<2xi64>) -> tensor<3xi64>
  %e = dl.expand %y, %b : (tensor<1x5xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %e : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: @tile_multiplies(
// CHECK:         dl.tile {{.*}} -> tensor<?x9xf32>
func.func @tile_multiplies(%x: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %r = dl.constant dense<[2, 3]> : tensor<2xi64>
  %y = dl.tile %x, %r : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// reshape C1
func.func @reshape_c1(%x: tensor<4xf32>, %s: tensor<?xi64>) {
  // expected-error @+1 {{shape must be an i64 vector of static length}}
  %y = dl.reshape %x, %s : (tensor<4xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return
}

// -----

// reshape C2
func.func @reshape_c2(%x: tensor<4xf32>) {
  %s = dl.constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error @+1 {{more than one -1}}
  %y = dl.reshape %x, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

// reshape C3
func.func @reshape_c3(%x: tensor<4xf32>) {
  %s = dl.constant dense<[3, -1]> : tensor<2xi64>
  // expected-error @+1 {{number of elements of input and result: 4 and 3 differ}}
  %y = dl.reshape %x, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

// resolve_shape C2
func.func @resolve_shape_c2(%x: tensor<4xf32>) {
  %s = dl.constant dense<[4, 0]> : tensor<2xi64>
  // expected-error @+1 {{shape has 0 at axis 1 but input has rank 1}}
  %y = dl.resolve_shape %x, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

// broadcast_shape C2
func.func @broadcast_shape_c2() {
  %a = dl.constant dense<[2]> : tensor<1xi64>
  %b = dl.constant dense<[3]> : tensor<1xi64>
  // expected-error @+1 {{sizes do not broadcast: 2 and 3}}
  %y = dl.broadcast_shape %a, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return
}

// -----

// expand C1
func.func @expand_c1(%x: tensor<2x2xf32>) {
  %s = dl.constant dense<[2]> : tensor<1xi64>
  // expected-error @+1 {{shape has 1 sizes, input has rank 2}}
  %y = dl.expand %x, %s : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

// expand C2
func.func @expand_c2(%x: tensor<2xf32>) {
  %s = dl.constant dense<[3]> : tensor<1xi64>
  // expected-error @+1 {{expanded size: 2 and 3 differ}}
  %y = dl.expand %x, %s : (tensor<2xf32>, tensor<1xi64>) -> tensor<3xf32>
  return
}

// -----

// transpose C1
func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{permutation is none of the 2 axes}}
  %y = dl.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// concat C2
func.func @concat_c2(%x: tensor<2xf32>, %y: tensor<2x1xf32>) {
  // expected-error @+1 {{operands differ in element type or rank}}
  %z = dl.concat %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<4xf32>
  return
}

// -----

// concat C3
func.func @concat_c3(%x: tensor<2xf32>) {
  // expected-error @+1 {{axis 1 is outside the rank 1}}
  %z = dl.concat %x, %x {axis = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

// concat C4
func.func @concat_c4(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{size along axis 1: 3 and 4 differ}}
  %z = dl.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// tile C1
func.func @tile_c1(%x: tensor<2x3xf32>) {
  %r = dl.constant dense<[2]> : tensor<1xi64>
  // expected-error @+1 {{repeats has 1 elements, input has rank 2}}
  %z = dl.tile %x, %r : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<4x3xf32>
  return
}

// -----

// bitcast C1
func.func @bitcast_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{cannot read the bits of 'f32' as 'i64'}}
  %y = dl.bitcast %x {to = i64} : (tensor<4xf32>) -> tensor<4xi64>
  return
}
