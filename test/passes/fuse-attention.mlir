// RUN: dlc-opt %s --dl-fuse-attention --canonicalize --split-input-file | FileCheck %s

// BERT: the key is read transposed, the scores are divided and biased.

// CHECK-LABEL: @scaled_and_biased(
// CHECK-SAME:    %[[Q:[^:]+]]: {{.*}}, %[[K:[^:]+]]: {{.*}}, %[[V:[^:]+]]: {{.*}}, %[[B:[^:]+]]: {{.*}})
// CHECK:         %[[KT:.+]] = dl.transpose %[[K]] {permutation = array<i64: 0, 2, 1, 3>}
// CHECK:         %[[Y:.+]] = dl.attention %[[Q]], %[[KT]], %[[V]], %[[B]] {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>, scale = 1.250000e-01 : f64}
// CHECK-NEXT:    return %[[Y]]
func.func @scaled_and_biased(%q: tensor<?x2x5x64xf32> {dl.dims = ["N", 2, 5, 64]}, %k: tensor<?x7x2x64xf32> {dl.dims = ["N", 7, 2, 64]},
    %v: tensor<?x2x7x64xf32> {dl.dims = ["N", 2, 7, 64]}, %b: tensor<?x1x1x7xf32> {dl.dims = ["N", 1, 1, 7]}) -> tensor<?x2x5x64xf32> {
  %eight = dl.constant dense<8.0> : tensor<f32>
  %kt = dl.transpose %k {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x7x2x64xf32>) -> tensor<?x2x64x7xf32>
  %x = dl.matmul %q, %kt : (tensor<?x2x5x64xf32>, tensor<?x2x64x7xf32>) -> tensor<?x2x5x7xf32>
  %s = dl.div %x, %eight : (tensor<?x2x5x7xf32>, tensor<f32>) -> tensor<?x2x5x7xf32>
  %a = dl.add %s, %b : (tensor<?x2x5x7xf32>, tensor<?x1x1x7xf32>) -> tensor<?x2x5x7xf32>
  %p = dl.softmax %a {axis = 3 : i64} : (tensor<?x2x5x7xf32>) -> tensor<?x2x5x7xf32>
  %y = dl.matmul %p, %v : (tensor<?x2x5x7xf32>, tensor<?x2x7x64xf32>) -> tensor<?x2x5x64xf32>
  return %y : tensor<?x2x5x64xf32>
}

// -----

// A mask that says where the fill goes; factors on both sides of the product.

// CHECK-LABEL: @filled_where_masked(
// CHECK:         %[[KEEP:.+]] = dl.not %{{.+}} : (tensor<5x5xi1>) -> tensor<5x5xi1>
// CHECK:         dl.attention %{{.+}}, %[[KEEP]] {masked_value = -1.000000e+09 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 2.500000e-01 : f64}
// CHECK-NOT:     dl.softmax
func.func @filled_where_masked(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %m: tensor<5x5xi1>) -> tensor<1x2x5x8xf32> {
  %half = dl.constant dense<0.5> : tensor<f32>
  %fill = dl.constant dense<-1.0e9> : tensor<f32>
  %qs = dl.mul %q, %half : (tensor<1x2x5x8xf32>, tensor<f32>) -> tensor<1x2x5x8xf32>
  %ks = dl.mul %k, %half : (tensor<1x2x5x8xf32>, tensor<f32>) -> tensor<1x2x5x8xf32>
  %x = dl.matmul %qs, %ks {transpose_rhs} : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x5xf32>
  %s = dl.select %m, %fill, %x : (tensor<5x5xi1>, tensor<f32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %p = dl.softmax %s {axis = 3 : i64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %y = dl.matmul %p, %v : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}

// -----

// CHECK-LABEL: @capped(
// CHECK:         dl.attention {{.*}}scale = 2.500000e-01 : f64, softcap = 5.000000e+01 : f64
func.func @capped(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %b: tensor<5xf32>) -> tensor<1x2x5x8xf32> {
  %quarter = dl.constant dense<0.25> : tensor<f32>
  %cap = dl.constant dense<50.0> : tensor<f32>
  %x = dl.matmul %q, %k {transpose_rhs} : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x5xf32>
  %s = dl.mul %x, %quarter : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %d = dl.div %s, %cap : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %t = dl.tanh %d : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %c = dl.mul %t, %cap : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %a = dl.add %b, %c : (tensor<5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %p = dl.softmax %a {axis = 3 : i64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %y = dl.matmul %p, %v : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}

// -----

// The weights are a result too: they must exist in memory.

// CHECK-LABEL: @weights_read_twice(
// CHECK-NOT:     dl.attention
func.func @weights_read_twice(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>) -> (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) {
  %x = dl.matmul %q, %k {transpose_rhs} : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x5xf32>
  %p = dl.softmax %x {axis = 3 : i64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %y = dl.matmul %p, %v : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %p, %y : tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>
}

// -----

// A bias of several batches makes several of the scores' one.

// CHECK-LABEL: @bias_widens_scores(
// CHECK-NOT:     dl.attention
func.func @bias_widens_scores(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<3x2x5x8xf32>, %b: tensor<3x1x5x5xf32>) -> tensor<3x2x5x8xf32> {
  %x = dl.matmul %q, %k {transpose_rhs} : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x5xf32>
  %a = dl.add %x, %b : (tensor<1x2x5x5xf32>, tensor<3x1x5x5xf32>) -> tensor<3x2x5x5xf32>
  %p = dl.softmax %a {axis = 3 : i64} : (tensor<3x2x5x5xf32>) -> tensor<3x2x5x5xf32>
  %y = dl.matmul %p, %v : (tensor<3x2x5x5xf32>, tensor<3x2x5x8xf32>) -> tensor<3x2x5x8xf32>
  return %y : tensor<3x2x5x8xf32>
}

// -----

// A softmax over the queries is no attention.

// CHECK-LABEL: @other_axis(
// CHECK-NOT:     dl.attention
func.func @other_axis(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %x = dl.matmul %q, %k {transpose_rhs} : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x5xf32>
  %p = dl.softmax %x {axis = 2 : i64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %y = dl.matmul %p, %v : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}
