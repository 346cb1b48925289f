// RUN: dlc-opt %s --dl-decompose --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dl-decompose=keep-kernels --split-input-file | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: @causal(
// CHECK:         %[[X:.+]] = dl.matmul {{.*}}transpose_rhs
// CHECK:         %[[ALLOWED:.+]] = dl.compare {{.*}}predicate = 2
// CHECK:         %[[M:.+]] = dl.select %[[ALLOWED]], %[[X]],
// CHECK:         %[[P:.+]] = dl.softmax %[[M]]
// CHECK:         dl.matmul %[[P]],
// KEEP-LABEL: @causal(
// KEEP:         dl.attention
func.func @causal(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %y = dl.attention %q, %q, %q {causal, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.0 : f64}
     : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}

// -----

// Heads that share a key: an axis more, and no copy of the key.

// CHECK-LABEL: @grouped(
// CHECK:         dl.matmul {{.*}} : (tensor<1x2x3x5x8xf32>, tensor<1x2x1x5x8xf32>) -> tensor<1x2x3x5x5xf32>
// CHECK:         dl.matmul {{.*}} : (tensor<1x2x3x5x5xf32>, tensor<1x2x1x5x8xf32>) -> tensor<1x2x3x5x8xf32>
func.func @grouped(%q: tensor<1x6x5x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x6x5x8xf32> {
  %y = dl.attention %q, %k, %k {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.0 : f64}
     : (tensor<1x6x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x6x5x8xf32>
  return %y : tensor<1x6x5x8xf32>
}

// -----

// The kernel is for f32.

// KEEP-LABEL: @half(
// KEEP-NOT:     dl.attention
func.func @half(%q: tensor<1x2x5x8xf16>) -> tensor<1x2x5x8xf16> {
  %y = dl.attention %q, %q, %q {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.0 : f64}
     : (tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16>) -> tensor<1x2x5x8xf16>
  return %y : tensor<1x2x5x8xf16>
}
