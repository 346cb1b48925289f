// RUN: dlc-opt %s --dl-infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @selects(
// CHECK:         dl.non_max_suppression {{.*}} -> (tensor<36x3xi64>, tensor<1xi64>)
func.func @selects(%b: tensor<2x6x4xf32>, %s: tensor<2x3x6xf32>, %k: tensor<1xi64>, %t: tensor<f32>) -> tensor<?x?xi64> {
  %r, %n = dl.non_max_suppression %b, %s, %k, %t, %t : (tensor<2x6x4xf32>, tensor<2x3x6xf32>, tensor<1xi64>, tensor<f32>, tensor<f32>) -> (tensor<?x?xi64>, tensor<1xi64>)
  return %r : tensor<?x?xi64>
}

// -----

// non_max_suppression C1
func.func @non_max_suppression_c1(%b: tensor<2x6x3xf32>, %s: tensor<2x3x6xf32>, %k: tensor<1xi64>, %t: tensor<f32>) {
  // expected-error @+1 {{boxes must be B x N x 4}}
  %r, %n = dl.non_max_suppression %b, %s, %k, %t, %t : (tensor<2x6x3xf32>, tensor<2x3x6xf32>, tensor<1xi64>, tensor<f32>, tensor<f32>) -> (tensor<?x?xi64>, tensor<1xi64>)
  return
}

// -----

// non_max_suppression C2
func.func @non_max_suppression_c2(%b: tensor<2x6x4xf32>, %s: tensor<2x3x6xf32>, %k: tensor<2xi64>, %t: tensor<f32>) {
  // expected-error @+1 {{limit must be an i64 vector of one element}}
  %r, %n = dl.non_max_suppression %b, %s, %k, %t, %t : (tensor<2x6x4xf32>, tensor<2x3x6xf32>, tensor<2xi64>, tensor<f32>, tensor<f32>) -> (tensor<?x?xi64>, tensor<1xi64>)
  return
}
