// RUN: dlc-opt %s --plan-assign-in-place --split-input-file | FileCheck %s

// CHECK-LABEL: plan.program "dies"
// CHECK:         %[[A:.+]] = plan.buffer "a" arena
// CHECK:         plan.buffer "b" alias {{.*}} of %[[A]]
plan.program "dies" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  %a = plan.buffer "a" arena affine_map<() -> (4)> : tensor<4xf32>
  %b = plan.buffer "b" arena affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "k" ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.dispatch "k" ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) sizes affine_map<() -> ()> nodes [] inplace [0, 0]
  plan.dispatch "k" ins(%b : tensor<4xf32>) outs(%y : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.outputs %y : tensor<4xf32>
}

// -----

// The operand is read again later.

// CHECK-LABEL: plan.program "read_again"
// CHECK-NOT:     alias
plan.program "read_again" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  %a = plan.buffer "a" arena affine_map<() -> (4)> : tensor<4xf32>
  %b = plan.buffer "b" arena affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "k" ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.dispatch "k" ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) sizes affine_map<() -> ()> nodes [] inplace [0, 0]
  plan.dispatch "k" ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.outputs %y : tensor<4xf32>
}

// -----

// The caller's input is never written.

// CHECK-LABEL: plan.program "input"
// CHECK-NOT:     alias
plan.program "input" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  %b = plan.buffer "b" arena affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "k" ins(%x : tensor<4xf32>) outs(%b : tensor<4xf32>) sizes affine_map<() -> ()> nodes [] inplace [0, 0]
  plan.dispatch "k" ins(%b : tensor<4xf32>) outs(%y : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.outputs %y : tensor<4xf32>
}
