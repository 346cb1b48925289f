// RUN: dlc-opt %s --dl-infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// What the branches agree on is known, the rest is not.

// CHECK-LABEL: @if_joins_shapes(
// CHECK:         dl.if %{{.+}} : (tensor<i1>) -> tensor<?x4xf32> {
func.func @if_joins_shapes(%c: tensor<i1>, %a: tensor<2x4xf32>, %b: tensor<3x4xf32>) -> tensor<?x?xf32> {
  %y = dl.if %c : (tensor<i1>) -> tensor<?x?xf32> {
    dl.yield %a : tensor<2x4xf32>
  } else {
    %r = dl.relu %b : (tensor<3x4xf32>) -> tensor<3x4xf32>
    dl.yield %r : tensor<3x4xf32>
  }
  return %y : tensor<?x?xf32>
}

// -----

// Carried values keep their shape; scanned slices stack up to the trip count.

// CHECK-LABEL: @loop_scans(
// CHECK:         dl.loop {{.*}} -> (tensor<4xf32>, tensor<i64>, tensor<5x4xf32>)
func.func @loop_scans(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %t = dl.constant dense<5> : tensor<i64>
  %y:3 = dl.loop %t, %x {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %w = dl.add %v, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dl.yield %go, %w, %v : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %y#0, %y#2 : tensor<4xf32>, tensor<?x4xf32>
}

// -----

// if C1
func.func @if_condition_is_no_bool(%c: tensor<2xi1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{condition must be one bool}}
  %y = dl.if %c : (tensor<2xi1>) -> tensor<4xf32> {
    dl.yield %a : tensor<4xf32>
  } else {
    dl.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// if C2
func.func @if_branches_differ_in_type(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xi64>) -> tensor<4xf32> {
  // expected-error @+1 {{regions yield 'tensor<4xf32>' and 'tensor<4xi64>' for result 0}}
  %y = dl.if %c : (tensor<i1>) -> tensor<4xf32> {
    dl.yield %a : tensor<4xf32>
  } else {
    dl.yield %b : tensor<4xi64>
  }
  return %y : tensor<4xf32>
}

// -----

// loop C3
func.func @loop_changes_a_shape(%t: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{unsupported: a carried value changes its shape: 4 and 8 differ}}
  %y:2 = dl.loop %t, %x {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %w = dl.concat %v, %v {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    dl.yield %go, %w : tensor<i1>, tensor<8xf32>
  }
  return %y#0 : tensor<4xf32>
}

// -----

// loop C4
func.func @scan_without_trip_count(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{scanned results need a trip count}}
  %y:3 = dl.loop %c, %x {operandSegmentSizes = array<i32: 0, 1, 1>}
      : (tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    dl.yield %go, %v, %v : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %y#2 : tensor<?x4xf32>
}
