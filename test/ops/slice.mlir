// RUN: dlc-opt %s --dl-infer-shapes --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// x[:, ::-1] with INT64_MIN as the end.

// CHECK-LABEL: @reversed(
// CHECK:         dl.constant dense<{{\[\[}}0, 2], [2, 3], [1, -1]]>
// CHECK:         dl.slice {{.*}} -> tensor<2x3xf32>
func.func @reversed(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %start = dl.constant dense<-1> : tensor<1xi64>
  %end = dl.constant dense<-9223372036854775808> : tensor<1xi64>
  %axis = dl.constant dense<-1> : tensor<1xi64>
  %step = dl.constant dense<-1> : tensor<1xi64>
  %b = dl.slice_bounds %x, %start, %end, %axis, %step : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x2xi64>
  %y = dl.slice %x, %b : (tensor<2x3xf32>, tensor<3x2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// The last size of a shape, through a slice of the shape.

// CHECK-LABEL: @last_size(
// CHECK:         %[[C:.+]] = dl.constant dense<7>
// CHECK:         return %[[C]]
func.func @last_size(%x: tensor<?x3x7xf32>) -> tensor<?xi64> {
  %s = dl.shape_of %x : (tensor<?x3x7xf32>) -> tensor<3xi64>
  %start = dl.constant dense<-1> : tensor<1xi64>
  %end = dl.constant dense<9223372036854775807> : tensor<1xi64>
  %zero = dl.constant dense<0> : tensor<1xi64>
  %one = dl.constant dense<1> : tensor<1xi64>
  %b = dl.slice_bounds %s, %start, %end, %zero, %one : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x1xi64>
  %y = dl.slice %s, %b : (tensor<3xi64>, tensor<3x1xi64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// A whole slice of static shape is no slice.

// CHECK-LABEL: @whole(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT:    return %[[X]]
func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = dl.constant dense<[[0], [4], [1]]> : tensor<3x1xi64>
  %y = dl.slice %x, %b : (tensor<4xf32>, tensor<3x1xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: @pads(
// CHECK:         dl.pad {{.*}} -> tensor<?x5xf32>
func.func @pads(%x: tensor<?x3xf32>, %v: tensor<f32>) -> tensor<?x?xf32> {
  %p = dl.constant dense<[1, -1, 0, 3]> : tensor<4xi64>
  %y = dl.pad %x, %p, %v {mode = 0 : i32} : (tensor<?x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// slice_bounds C1
func.func @slice_bounds_c1(%x: tensor<4xf32>, %a: tensor<1xi64>, %b: tensor<2xi64>) {
  // expected-error @+1 {{lists have the lengths 1 and 2}}
  %y = dl.slice_bounds %x, %a, %b, %a, %a : (tensor<4xf32>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x1xi64>
  return
}

// -----

// slice_bounds C2
func.func @slice_bounds_c2(%x: tensor<4xf32>, %a: tensor<2xi64>) {
  %axes = dl.constant dense<[0, -1]> : tensor<2xi64>
  // expected-error @+1 {{axis -1 is given twice}}
  %y = dl.slice_bounds %x, %a, %a, %axes, %a : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x1xi64>
  return
}

// -----

// slice_bounds C3
func.func @slice_bounds_c3(%x: tensor<4xf32>, %a: tensor<1xi64>) {
  %zero = dl.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{step is 0}}
  %y = dl.slice_bounds %x, %a, %a, %zero, %zero : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x1xi64>
  return
}

// -----

// slice C1
func.func @slice_c1(%x: tensor<4xf32>) {
  %b = dl.constant dense<0> : tensor<3x2xi64>
  // expected-error @+1 {{bounds must be 3 x 1 elements}}
  %y = dl.slice %x, %b : (tensor<4xf32>, tensor<3x2xi64>) -> tensor<?xf32>
  return
}

// -----

// slice C2
func.func @slice_c2(%x: tensor<4xf32>) {
  %b = dl.constant dense<[[2], [3], [1]]> : tensor<3x1xi64>
  // expected-error @+1 {{sliced size along axis 0: 4 is less than 5}}
  %y = dl.slice %x, %b : (tensor<4xf32>, tensor<3x1xi64>) -> tensor<3xf32>
  return
}

// -----

// pad C1
func.func @pad_c1(%x: tensor<4xf32>, %v: tensor<f32>) {
  %p = dl.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{pads has 1 elements, expects 2}}
  %y = dl.pad %x, %p, %v {mode = 0 : i32} : (tensor<4xf32>, tensor<1xi64>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// pad C2
func.func @pad_c2(%x: tensor<4xf32>, %v: tensor<i32>) {
  %p = dl.constant dense<0> : tensor<2xi64>
  // expected-error @+1 {{value must be a scalar of type 'f32'}}
  %y = dl.pad %x, %p, %v {mode = 0 : i32} : (tensor<4xf32>, tensor<2xi64>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

// pad C3
func.func @pad_c3(%x: tensor<0xf32>, %v: tensor<f32>) {
  %p = dl.constant dense<1> : tensor<2xi64>
  // expected-error @+1 {{padded size: 0 is less than 1}}
  %y = dl.pad %x, %p, %v {mode = 2 : i32} : (tensor<0xf32>, tensor<2xi64>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

// reverse_sequence C1
func.func @reverse_sequence_c1(%x: tensor<4x2xf32>, %n: tensor<2xi64>) {
  // expected-error @+1 {{axes 1 and 1 do not fit rank 2}}
  %y = dl.reverse_sequence %x, %n {time_axis = 1 : i64, batch_axis = 1 : i64} : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return
}

// -----

// reverse_sequence C2
func.func @reverse_sequence_c2(%x: tensor<4x2xf32>, %n: tensor<3xi64>) {
  // expected-error @+1 {{batch size: 3 and 2 differ}}
  %y = dl.reverse_sequence %x, %n {time_axis = 0 : i64, batch_axis = 1 : i64} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<4x2xf32>
  return
}
