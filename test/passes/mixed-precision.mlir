// Contractions and convolutions in 16 bits behind casts; all else in f32; f16 with a scale
// of the loss that is a state.
// RUN: dlc compile %s --train --loss mse --optimizer sgd --precision bf16 --stop-after train | FileCheck %s
// RUN: dlc compile %s --train --loss mse --optimizer sgd --precision bf16 --f32-ops conv --stop-after train | FileCheck %s --check-prefix=WIDE
// RUN: dlc compile %s --train --loss mse --optimizer sgd --precision f16 --stop-after train | FileCheck %s --check-prefix=SCALED

// Inference and validation stay as they are.
// CHECK-LABEL: func.func @eval(
// CHECK-NOT:     bf16
// CHECK-LABEL: func.func @train_step(
// CHECK:         dl.conv {{.*}}(tensor<2x3x4x4xbf16>, tensor<4x3x1x1xbf16>) -> tensor<2x4x4x4xbf16>
// CHECK:         dl.tanh {{.*}}f32
// Its gradients follow.
// CHECK:         dl.conv_filter_gradient {{.*}}bf16
// CHECK:         return {{.*}}tensor<4x3x1x1xf32>

// WIDE-NOT: bf16

// SCALED-LABEL: func.func @train_step(
// SCALED-SAME:    dl.initial = dense<6.553600e+04> : tensor<f32>{{.*}}dl.role = "scale", dl.state = "loss.scale"
// SCALED:         dl.conv {{.*}}f16
// SCALED:         dl.select
// SCALED:         return
func.func @main(%x: tensor<2x3x4x4xf32> {dl.dims = [2, 3, 4, 4], dl.name = "x"}) -> (tensor<2x4x4x4xf32> {dl.name = "z"}) {
  %w = dl.constant {dl.weight = "w"} dense<0.5> : tensor<4x3x1x1xf32>
  %0 = dl.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
     : (tensor<2x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x4xf32>
  %1 = dl.tanh %0 : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %1 : tensor<2x4x4x4xf32>
}
func.func @infer(%x: tensor<2x3x4x4xf32> {dl.dims = [2, 3, 4, 4], dl.name = "x"}) -> (tensor<2x4x4x4xf32> {dl.name = "z"}) {
  %w = dl.constant {dl.weight = "w"} dense<0.5> : tensor<4x3x1x1xf32>
  %0 = dl.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64}
     : (tensor<2x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x4xf32>
  %1 = dl.tanh %0 : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %1 : tensor<2x4x4x4xf32>
}
