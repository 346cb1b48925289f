// RUN: dlc-opt %s --plan-update-states-in-place --split-input-file | FileCheck %s

// CHECK-LABEL: plan.program "elementwise"
// CHECK:         %[[W:.+]] = plan.buffer "w" state role "parameter"
// CHECK:         %[[N:.+]] = plan.buffer "n" alias {{.*}} of %[[W]]
// CHECK:         plan.dispatch "step" {{.*}} outs(%[[N]]
// CHECK-NOT:     plan.copy
plan.program "elementwise" {
  %w = plan.buffer "w" state role "parameter" affine_map<() -> (4)> : tensor<4xf32>
  %g = plan.buffer "g" input affine_map<() -> (4)> : tensor<4xf32>
  %n = plan.buffer "n" arena affine_map<() -> (4)> : tensor<4xf32>
  plan.outputs
  plan.dispatch "step" ins(%w, %g : tensor<4xf32>, tensor<4xf32>) outs(%n : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes [] inplace [0, 0, 1, 0]
  plan.copy %n to %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// The kernel reads elements of the state after it has written others.

// CHECK-LABEL: plan.program "not_elementwise"
// CHECK:         plan.copy
plan.program "not_elementwise" {
  %w = plan.buffer "w" state affine_map<() -> (4, 4)> : tensor<4x4xf32>
  %n = plan.buffer "n" arena affine_map<() -> (4, 4)> : tensor<4x4xf32>
  plan.dispatch "transpose" ins(%w : tensor<4x4xf32>) outs(%n : tensor<4x4xf32>)
    sizes affine_map<() -> ()> nodes []
  plan.copy %n to %w : tensor<4x4xf32>, tensor<4x4xf32>
  plan.outputs
}

// -----

// A state that the kernel does not read may be written at once, if no one reads it later.

// CHECK-LABEL: plan.program "unread"
// CHECK:         plan.buffer "n" alias
// CHECK-NOT:     plan.copy
plan.program "unread" {
  %w = plan.buffer "w" state affine_map<() -> (4)> : tensor<4xf32>
  %g = plan.buffer "g" input affine_map<() -> (4)> : tensor<4xf32>
  %n = plan.buffer "n" arena affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "double" ins(%g : tensor<4xf32>) outs(%n : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes []
  plan.copy %n to %w : tensor<4xf32>, tensor<4xf32>
  plan.outputs
}

// -----

// CHECK-LABEL: plan.program "read_later"
// CHECK:         plan.copy
plan.program "read_later" {
  %w = plan.buffer "w" state affine_map<() -> (4)> : tensor<4xf32>
  %n = plan.buffer "n" arena affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "step" ins(%w : tensor<4xf32>) outs(%n : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes [] inplace [0, 0]
  plan.dispatch "double" ins(%w : tensor<4xf32>) outs(%y : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes []
  plan.copy %n to %w : tensor<4xf32>, tensor<4xf32>
  plan.outputs %y : tensor<4xf32>
}

// -----

// Whoever reads the new value finds it in the state.

// CHECK-LABEL: plan.program "new_value_read"
// CHECK:         %[[N:.+]] = plan.buffer "n" alias
// CHECK:         plan.dispatch "double" ins(%[[N]]
// CHECK-NOT:     plan.copy
plan.program "new_value_read" {
  %w = plan.buffer "w" state affine_map<() -> (4)> : tensor<4xf32>
  %n = plan.buffer "n" arena affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "step" ins(%w : tensor<4xf32>) outs(%n : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes [] inplace [0, 0]
  plan.dispatch "double" ins(%n : tensor<4xf32>) outs(%y : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes []
  plan.copy %n to %w : tensor<4xf32>, tensor<4xf32>
  plan.outputs %y : tensor<4xf32>
}

// -----

// An old value that moves from state to state is saved before either changes.

// CHECK-LABEL: plan.program "moved"
// CHECK:         plan.copy %{{.*}} to %[[SAVED:.+]] :
// CHECK:         plan.copy %[[SAVED]] to
plan.program "moved" {
  %a = plan.buffer "a" state affine_map<() -> (4)> : tensor<4xf32>
  %b = plan.buffer "b" state affine_map<() -> (4)> : tensor<4xf32>
  %saved = plan.buffer "" arena affine_map<() -> (4)> : tensor<4xf32>
  %n = plan.buffer "n" arena affine_map<() -> (4)> : tensor<4xf32>
  plan.dispatch "step" ins(%a : tensor<4xf32>) outs(%n : tensor<4xf32>)
    sizes affine_map<() -> ()> nodes [] inplace [0, 0]
  plan.copy %a to %saved : tensor<4xf32>, tensor<4xf32>
  plan.copy %n to %a : tensor<4xf32>, tensor<4xf32>
  plan.copy %saved to %b : tensor<4xf32>, tensor<4xf32>
  plan.outputs
}
