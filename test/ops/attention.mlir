// RUN: dlc-opt %s --split-input-file --verify-diagnostics

// attention C1
func.func @c1_rank(%q: tensor<2x5x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  // expected-error@+1 {{query, key and value must have rank 4 and one float type}}
  %y = dl.attention %q, %k, %k {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.0 : f64}
     : (tensor<2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}

// -----

// attention C2
func.func @c2_head_size(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  // expected-error@+1 {{head sizes of query and key: 8 and 4 differ}}
  %y = dl.attention %q, %k, %k {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.0 : f64}
     : (tensor<1x2x5x8xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return %y : tensor<1x2x5x4xf32>
}

// -----

// attention C3
func.func @c3_heads(%q: tensor<1x4x5x8xf32>, %k: tensor<1x3x5x8xf32>) -> tensor<1x4x5x8xf32> {
  // expected-error@+1 {{the query has 4 heads, not a multiple of the key's 3}}
  %y = dl.attention %q, %k, %k {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.0 : f64}
     : (tensor<1x4x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>) -> tensor<1x4x5x8xf32>
  return %y : tensor<1x4x5x8xf32>
}

// -----

// attention C4
func.func @c4_mask_type(%q: tensor<1x2x5x8xf32>, %m: tensor<5x5xf32>) -> tensor<1x2x5x8xf32> {
  // expected-error@+1 {{the mask is 'f32', expects 'i1'}}
  %y = dl.attention %q, %q, %q, %m {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 1.0 : f64}
     : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<5x5xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}

// -----

// attention C4
func.func @c4_bias_shape(%q: tensor<1x2x5x8xf32>, %m: tensor<5x4xf32>) -> tensor<1x2x5x8xf32> {
  // expected-error@+1 {{sizes of the bias and of the scores: 4 and 5 differ}}
  %y = dl.attention %q, %q, %q, %m {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>, scale = 1.0 : f64}
     : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<5x4xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}

// -----

// attention C5
func.func @c5_scale(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  // expected-error@+1 {{scale and softcap must be finite and not negative}}
  %y = dl.attention %q, %q, %q {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = -1.0 : f64}
     : (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %y : tensor<1x2x5x8xf32>
}
