// From a model to the programs that train it.
// RUN: dlc compile %s --train --loss mse --optimizer sgd --momentum 0.5 --stop-after train | FileCheck %s
// RUN: dlc compile %s --train --loss mse --optimizer sgd --accumulate --stop-after train | FileCheck %s --check-prefix=SUM
// RUN: dlc compile %s --train --loss mse --optimizer sgd --freeze 'w*' --stop-after train | FileCheck %s --check-prefix=FROZEN
// RUN: not dlc compile %s --train --loss mse --freeze '*' --stop-after train 2>&1 | FileCheck %s --check-prefix=NOTHING

// Weights are states in every entry; a statistic is one that @main updates.

// CHECK-LABEL: func.func @infer(
// CHECK-SAME:    dl.name = "x"
// CHECK-SAME:    dl.role = "parameter", dl.state = "weight"
// CHECK-SAME:    dl.role = "statistic", dl.state = "mean"
// CHECK-LABEL: func.func @eval(
// CHECK-SAME:    dl.name = "y"
// CHECK-SAME:    {dl.name = "loss"}, tensor<f32> {dl.name = "count"}
// CHECK-LABEL: func.func @train_step(
// CHECK-SAME:    dl.name = "lr"
// CHECK-SAME:    dl.role = "counter", dl.state = "step.counter"
// CHECK-SAME:    dl.role = "moment", dl.state = "weight.momentum_buffer"
// CHECK-SAME:    -> (tensor<3xf32> {dl.state = "mean"}, tensor<f32> {dl.name = "loss"}, tensor<3xf32> {dl.state = "weight"}, tensor<3xf32> {dl.state = "weight.momentum_buffer"}
// CHECK-SAME:    tensor<i64> {dl.state = "step.counter"})

// Gradients are sums until they are applied.

// SUM-LABEL: func.func @grad_step(
// SUM-NOT:     dl.name = "lr"
// SUM-SAME:    dl.role = "gradient", dl.state = "weight.gradient"
// SUM-SAME:    {dl.name = "loss"}, tensor<3xf32> {dl.state = "weight.gradient"}
// SUM-SAME:    tensor<f32> {dl.state = "gradient.count"})
// SUM-LABEL: func.func @apply_step(
// SUM-SAME:    dl.name = "lr"
// SUM-SAME:    {dl.state = "weight"}

// FROZEN-LABEL: func.func @train_step(
// FROZEN-SAME:    dl.role = "parameter", dl.state = "bias"
// FROZEN-NOT:     dl.state = "weight"
// FROZEN:         return

// NOTHING: nothing to train

func.func @main(%x: tensor<2x3xf32> {dl.dims = [2, 3], dl.name = "x"})
    -> (tensor<2x3xf32> {dl.name = "z"}, tensor<3xf32> {dl.state = "mean"}) {
  %w = dl.constant {dl.weight = "weight"} dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = dl.constant {dl.weight = "bias"} dense<[0.5, 0.25, 0.125]> : tensor<3xf32>
  %m = dl.constant {dl.weight = "mean", dl.role = "statistic"} dense<0.0> : tensor<3xf32>
  %p = dl.mul %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %z = dl.add %p, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %n = dl.reduce %x {kind = 1 : i32, axes = array<i64: 0>, keep_dims = false} : (tensor<2x3xf32>) -> tensor<3xf32>
  %s = dl.add %m, %n : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %z, %s : tensor<2x3xf32>, tensor<3xf32>
}

func.func @infer(%x: tensor<2x3xf32> {dl.dims = [2, 3], dl.name = "x"}) -> (tensor<2x3xf32> {dl.name = "z"}) {
  %w = dl.constant {dl.weight = "weight"} dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = dl.constant {dl.weight = "bias"} dense<[0.5, 0.25, 0.125]> : tensor<3xf32>
  %m = dl.constant {dl.weight = "mean", dl.role = "statistic"} dense<0.0> : tensor<3xf32>
  %d = dl.sub %x, %m : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %p = dl.mul %d, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %z = dl.add %p, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
