// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{must have one plan.outputs}}
plan.program "no_end" {
}

// -----

plan.program "symbols" {
  plan.symbol "N" [1, 64]
  %x = plan.buffer "x" input affine_map<()[s0] -> (s0)> : tensor<?xi64>
  // expected-error @+1 {{binds symbol 1, 1 are declared}}
  plan.bind_symbol 1 = %x[0] : tensor<?xi64>
  plan.outputs
}

// -----

plan.program "unknown_symbol" {
  // expected-error @+1 {{uses 1 symbols, 0 are declared}}
  %x = plan.buffer "x" input affine_map<()[s0] -> (s0)> : tensor<?xf32>
  plan.outputs
}

// -----

plan.program "rank" {
  // expected-error @+1 {{takes 2 sizes, not 1}}
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4x4xf32>
  plan.outputs
}

// -----

plan.program "size" {
  // expected-error @+1 {{axis 0 of affine_map<() -> (4)> does not fit 'tensor<5xf32>'}}
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<5xf32>
  plan.outputs
}

// -----

plan.program "alias_of_nothing" {
  // expected-error @+1 {{an alias, and only an alias, is `of` a buffer}}
  %x = plan.buffer "x" alias affine_map<() -> (4)> : tensor<4xf32>
  plan.outputs
}

// -----

plan.program "constant_without_value" {
  // expected-error @+1 {{a constant, and only a constant or a state, has a value}}
  %x = plan.buffer "x" constant affine_map<() -> (4)> : tensor<4xf32>
  plan.outputs
}

// -----

plan.program "offset" {
  // expected-error @+1 {{only arena buffers have an offset}}
  %x = plan.buffer "x" input affine_map<() -> (4)> at 64 : tensor<4xf32>
  plan.outputs
}

// -----

plan.program "writes_input" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  %v = plan.buffer "" alias affine_map<() -> (2, 2)> of %x : tensor<4xf32> as : tensor<2x2xf32>
  // expected-error @+1 {{writes input buffer 'x'}}
  plan.dispatch "k" outs(%v : tensor<2x2xf32>) sizes affine_map<() -> ()> nodes []
  plan.outputs
}

// -----

plan.program "inplace" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  // expected-error @+1 {{inplace must be pairs of an input and an output}}
  plan.dispatch "k" ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) sizes affine_map<() -> ()> nodes [] inplace [0, 1]
  plan.outputs %y : tensor<4xf32>
}

// -----

plan.program "nodes" {
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  // expected-error @+1 {{nodes must be #plan.node, not "n"}}
  plan.dispatch "k" outs(%y : tensor<4xf32>) sizes affine_map<() -> ()> nodes ["n"]
  plan.outputs %y : tensor<4xf32>
}

// -----

plan.program "copy" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xi32>
  %y = plan.buffer "y" output affine_map<() -> (4)> : tensor<4xf32>
  // expected-error @+1 {{copies 'i32' to 'f32'}}
  plan.copy %x to %y : tensor<4xi32>, tensor<4xf32>
  plan.outputs %y : tensor<4xf32>
}

// -----

plan.program "bind" {
  plan.symbol "?1" [0, 64]
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xi64>
  // expected-error @+1 {{element 4 lies outside 'tensor<4xi64>'}}
  plan.bind_symbol 0 = %x[4] : tensor<4xi64>
  plan.outputs
}

// -----

plan.program "condition" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xi1>
  // expected-error @+1 {{condition must be one i1, not 'tensor<4xi1>'}}
  plan.if %x : tensor<4xi1> {
  } else {
  }
  plan.outputs
}

// -----

plan.program "output" {
  %x = plan.buffer "x" input affine_map<() -> (4)> : tensor<4xf32>
  // expected-error @+1 {{value 0 is not an output buffer}}
  plan.outputs %x : tensor<4xf32>
}
