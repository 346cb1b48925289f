// Passes on plans.

#ifndef DLC_PASSES_PLAN_PASSES_TD
#define DLC_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignInPlace : Pass<"plan-assign-in-place", "::dlc::plan::ProgramOp"> {
  let summary = "Lets a dispatch write its result over an operand that dies there.";
  let description = [{
    Only where the dispatch lists the pair in `inplace`, both buffers live in
    the arena, and nothing reads the operand afterwards.

    ```mlir
    // Before
    %y = plan.buffer "" arena affine_map<() -> (4)> : tensor<4xf32>
    plan.dispatch "relu" ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) ... inplace [0, 0]
    // After
    %y = plan.buffer "" alias affine_map<() -> (4)> of %x : tensor<4xf32> as : tensor<4xf32>
    ```
  }];
}

def UpdateStatesInPlace : Pass<"plan-update-states-in-place", "::dlc::plan::ProgramOp"> {
  let summary = "Computes the new value of a state right into it.";
  let description = [{
    Only where one dispatch makes the whole new value, nothing reads the old one
    after it, and the dispatch itself reads it at most in the place that it writes.

    ```mlir
    // Before
    %w = plan.buffer "w" state affine_map<() -> (4)> : tensor<4xf32>
    %n = plan.buffer "" arena affine_map<() -> (4)> : tensor<4xf32>
    plan.dispatch "step" ins(%w : tensor<4xf32>) outs(%n : tensor<4xf32>) ... inplace [0, 0]
    plan.copy %n to %w : tensor<4xf32>, tensor<4xf32>
    // After
    %n = plan.buffer "" alias affine_map<() -> (4)> of %w : tensor<4xf32> as : tensor<4xf32>
    plan.dispatch "step" ins(%w : tensor<4xf32>) outs(%n : tensor<4xf32>) ... inplace [0, 0]
    ```
  }];
}

def AssignMemory : Pass<"plan-assign-memory", "::dlc::plan::ProgramOp"> {
  let summary = "Gives every arena buffer of static size its place.";
  let description = [{
    Tries several greedy orders and keeps the best. Buffers of symbolic size
    keep no offset; the runtime places them when it knows the sizes.

    ```mlir
    // Before
    %y = plan.buffer "" arena affine_map<() -> (4)> : tensor<4xf32>
    // After
    %y = plan.buffer "" arena affine_map<() -> (4)> at 0 : tensor<4xf32>
    ```
  }];
}

#endif // DLC_PASSES_PLAN_PASSES_TD
