// RUN: dlc-opt %s --plan-assign-memory | FileCheck %s

// %a is dead when %c is written: they share an offset.

// CHECK-LABEL: plan.program "reuse"
// CHECK-SAME:    arena_bytes = 128 : i64, arena_lower_bound = 128 : i64
// CHECK:         %[[A:.+]] = plan.buffer "a" arena {{.*}} at [[AT:[0-9]+]] :
// CHECK:         plan.buffer "b" arena {{.*}} at
// CHECK:         plan.buffer "c" arena {{.*}} at [[AT]] :
plan.program "reuse" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  %a = plan.buffer "a" arena affine_map<() -> (4)> : tensor<4xf32>
  %b = plan.buffer "b" arena affine_map<() -> (4)> : tensor<4xf32>
  %c = plan.buffer "c" arena affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "k" ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.dispatch "k" ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.dispatch "k" ins(%b : tensor<4xf32>) outs(%c : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.dispatch "k" ins(%c : tensor<4xf32>) outs(%y : tensor<4xf32>) sizes affine_map<() -> ()> nodes []
  plan.outputs %y : tensor<4xf32>
}
