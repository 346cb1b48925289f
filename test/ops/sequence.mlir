// RUN: dlc-opt %s --dl-infer-shapes --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Range over a symbolic size keeps the symbol.

// CHECK-LABEL: @positions(
// CHECK:         %[[R:.+]] = dl.range {{.*}} -> tensor<?xi64>
// CHECK:         dl.add {{.*}}: (tensor<?xi64>, tensor<?xi64>)
func.func @positions(%x: tensor<?xi64> {dl.dims = ["S"]}) -> tensor<?xi64> {
  %s = dl.shape_of %x : (tensor<?xi64>) -> tensor<1xi64>
  %scalar = dl.constant dense<> : tensor<0xi64>
  %limit = dl.reshape %s, %scalar : (tensor<1xi64>, tensor<0xi64>) -> tensor<i64>
  %zero = dl.constant dense<0> : tensor<i64>
  %one = dl.constant dense<1> : tensor<i64>
  %n = dl.range_size %zero, %limit, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1xi64>
  %r = dl.range %zero, %one, %n : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<?xi64>
  %y = dl.add %x, %r : (tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// CHECK-LABEL: @known_range(
// CHECK:         dl.constant dense<[3, 1, -1]>
func.func @known_range() -> tensor<?xi64> {
  %a = dl.constant dense<3> : tensor<i64>
  %b = dl.constant dense<-3> : tensor<i64>
  %d = dl.constant dense<-2> : tensor<i64>
  %n = dl.range_size %a, %b, %d : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1xi64>
  %r = dl.range %a, %d, %n : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<?xi64>
  return %r : tensor<?xi64>
}

// -----

// CHECK-LABEL: @ordered(
// CHECK:         dl.topk {{.*}} -> (tensor<?x3xf32>, tensor<?x3xi64>)
func.func @ordered(%x: tensor<?x9xf32>) -> tensor<?x?xi64> {
  %k = dl.constant dense<3> : tensor<1xi64>
  %v, %i = dl.topk %x, %k {axis = 1 : i64, largest} : (tensor<?x9xf32>, tensor<1xi64>) -> (tensor<?x?xf32>, tensor<?x?xi64>)
  return %i : tensor<?x?xi64>
}

// -----

// range_size C1
func.func @range_size_c1(%a: tensor<i64>, %b: tensor<f32>) {
  // expected-error @+1 {{operands must be scalars of one element type}}
  %n = dl.range_size %a, %b, %a : (tensor<i64>, tensor<f32>, tensor<i64>) -> tensor<1xi64>
  return
}

// -----

// range C1
func.func @range_c1(%a: tensor<1xi64>, %n: tensor<1xi64>) {
  // expected-error @+1 {{start and delta must be scalars}}
  %r = dl.range %a, %a, %n : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  return
}

// -----

// range C2
func.func @range_c2(%a: tensor<i64>, %n: tensor<2xi64>) {
  // expected-error @+1 {{size must be an i64 vector of one element}}
  %r = dl.range %a, %a, %n : (tensor<i64>, tensor<i64>, tensor<2xi64>) -> tensor<?xi64>
  return
}

// -----

// cumulate C1
func.func @cumulate_c1(%x: tensor<4xf32>) {
  %a = dl.constant dense<1> : tensor<i64>
  // expected-error @+1 {{axis 1 is out of range for rank 1}}
  %y = dl.cumulate %x, %a : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

// topk C1
func.func @topk_c1(%x: tensor<4xf32>, %k: tensor<1xi64>) {
  // expected-error @+1 {{axis -1 is outside the rank 1}}
  %v, %i = dl.topk %x, %k {axis = -1 : i64} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}

// -----

// topk C2
func.func @topk_c2(%x: tensor<4xf32>) {
  %k = dl.constant dense<5> : tensor<1xi64>
  // expected-error @+1 {{size of the axis: 4 is less than 5}}
  %v, %i = dl.topk %x, %k {axis = 0 : i64} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}
