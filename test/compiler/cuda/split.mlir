// A reduction with few results is two launches: many partial results, then their sum
// with what follows it. Outer loops become parallel as they are; a single long one is cut.
// RUN: rm -rf %t && dlc-compiler compile %s -o %t.dlc --target=cuda:source --dump-dir %t
// RUN: cat %t/cuda/*matmul_*.cu | FileCheck %s --check-prefix=MATMUL
// RUN: cat %t/cuda/*reduce*.cu | FileCheck %s --check-prefix=SUM

// The depth of 4096 in 64 parts, for a block each; few results: a block adds up each.
// MATMUL: for (int at = blockIdx.x; at < 64 * rowTiles * columnTiles; at += gridDim.x)
// MATMUL: for (int k0 = 0; k0 < 64; k0 += Tile::kDepth)
// MATMUL: __global__
// MATMUL: for (int {{.*}} = threadIdx.x; {{.*}} < 64; {{.*}} += blockDim.x)
// MATMUL: dlc_block_reduce
// MATMUL: tanhf(
// MATMUL-NOT: __global__

// Columns: a first launch over rows of a number that only a run knows.
// SUM: reduce_1_s0_i32(
// SUM: t < (([[N:s[0-9]+]] * 2) * 64)
// SUM: for (int [[R:r[0-9]+]] = 0; [[R]] < 16; ++[[R]])
// SUM: reduce_1_s1_i32(
// SUM: for (int row = blockIdx.x; row < 64; row += gridDim.x)
// SUM: dlc_block_reduce
func.func @main(%a: tensor<64x4096xf32> {dl.name = "a"}, %b: tensor<4096x64xf32> {dl.name = "b"},
                %x: tensor<?x32x64xf32> {dl.dims = ["N", 32, 64], dl.name = "x"})
    -> (tensor<64x64xf32> {dl.name = "y"}, tensor<64xf32> {dl.name = "z"}) {
  %0 = dl.matmul %a, %b : (tensor<64x4096xf32>, tensor<4096x64xf32>) -> tensor<64x64xf32>
  %1 = dl.tanh %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = dl.reduce %x {kind = 0 : i32, axes = array<i64: 0, 1>, keep_dims = false} : (tensor<?x32x64xf32>) -> tensor<64xf32>
  return %1, %2 : tensor<64x64xf32>, tensor<64xf32>
}
