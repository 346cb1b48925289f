// RUN: dlc-opt %s --split-input-file --verify-diagnostics --cse | FileCheck %s

// Two draws stay two draws.

// CHECK-LABEL: @never_merged(
// CHECK-COUNT-2: dl.random
func.func @never_merged() -> (tensor<4xf32>, tensor<4xf32>) {
  %s = dl.constant dense<4> : tensor<1xi64>
  %a = dl.random %s {element = f32, normal = false, seed = 1 : i64, stream = 0 : i64} : (tensor<1xi64>) -> tensor<4xf32>
  %b = dl.random %s {element = f32, normal = false, seed = 1 : i64, stream = 0 : i64} : (tensor<1xi64>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// random C1
func.func @c1_shape(%s: tensor<2x2xi64>) -> tensor<4xf32> {
  // expected-error@+1 {{shape must be an i64 vector of static length}}
  %a = dl.random %s {element = f32, normal = false, seed = 1 : i64, stream = 0 : i64} : (tensor<2x2xi64>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// random C2
func.func @c2_element(%s: tensor<1xi64>) -> tensor<?xi32> {
  // expected-error@+1 {{draws floats, not 'i32'}}
  %a = dl.random %s {element = i32, normal = false, seed = 1 : i64, stream = 0 : i64} : (tensor<1xi64>) -> tensor<?xi32>
  return %a : tensor<?xi32>
}

// -----

// random C3
func.func @c3_counter(%s: tensor<1xi64>, %c: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error@+1 {{counter must be an i64 of rank 0}}
  %a = dl.random %s, %c {element = f32, normal = false, seed = 1 : i64, stream = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}
