// RUN: dlc-opt %s --dl-infer-shapes --dl-form-kernels --canonicalize --split-input-file | FileCheck %s

// A chain of elementwise ops is one kernel; its small constant moves inside.

// CHECK-LABEL: @fuses_chain(
// CHECK-SAME:    %[[X:[^:]+]]: {{.*}}, %[[Y:[^:]+]]:
// CHECK:         dl.kernel(%[[X]], %[[Y]])
// CHECK:           dl.constant
// CHECK:           dl.add
// CHECK:           dl.relu
// CHECK:           dl.mul
// CHECK-NOT:     dl.kernel
func.func @fuses_chain(%x: tensor<?x3xf32> {dl.dims = ["N", 3]}, %y: tensor<3xf32>) -> tensor<?x3xf32> {
  %0 = dl.add %x, %y : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %1 = dl.relu %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = dl.constant dense<1.0> : tensor<f32>
  %2 = dl.mul %1, %c: (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// -----

// The sum is read twice: fusing would compute it twice or lose it.

// CHECK-LABEL: @keeps_shared_producer(
// CHECK:         %[[S:.+]] = dl.kernel
// CHECK:           dl.add
// CHECK:         dl.kernel(%[[S]])
// CHECK:           dl.relu
// CHECK:         dl.kernel(%[[S]])
// CHECK:           dl.exp
func.func @keeps_shared_producer(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dl.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dl.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dl.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A producer of a smaller shape would be computed once per broadcast copy.

// CHECK-LABEL: @keeps_broadcast_producer(
// CHECK:         dl.kernel
// CHECK:           dl.exp
// CHECK:         dl.kernel
// CHECK:           dl.add
func.func @keeps_broadcast_producer(%x: tensor<4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = dl.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dl.add %0, %y : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// RUN: dlc-opt %s --split-input-file --dl-form-kernels=fuse=false | FileCheck %s --check-prefix=ALONE

// ALONE-LABEL: @fuses_chain(
// ALONE-COUNT-3: dl.kernel

// -----

// A composite op is a kernel of its own, whose operands are all buffers.

// CHECK-LABEL: @keeps_constant_of_attention(
// CHECK:         %[[B:.+]] = dl.constant
// CHECK:         dl.kernel(%{{.+}}, %[[B]])
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      dl.attention
func.func @keeps_constant_of_attention(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %b = dl.constant dense<0.5> : tensor<1xf32>
  %y = dl.attention %q, %q, %q, %b {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>, scale = 1.0 : f64}
     : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}
