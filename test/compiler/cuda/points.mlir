// Elementwise ops and reductions: one thread per point, in one launch where the points
// are the same; what several ops of a point use is a variable. Where only a launch knows
// the sizes there are two functions, with 64-bit and with 32-bit indices.
// RUN: rm -rf %t && dlc-compiler compile %s -o %t.dlc --target=cuda:source --dump-dir %t
// RUN: cat %t/cuda/add_tanh_0.cu %t/cuda/reduce_1.cu | FileCheck %s

// CHECK: #include "dlc.cuh"
// CHECK: add_tanh_0(float *b0, float *b1, float *b2, i64 [[N:s[0-9]+]]) {
// CHECK: for (i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x; t < ([[N]] * 3); t += gridDim.x * (i64)blockDim.x)
// CHECK: const i64 [[COLUMN:x[0-9]+]] = t % 3;
// CHECK: = b1{{\[}}[[COLUMN]]];
// CHECK: tanhf(
// CHECK: b2[
// CHECK: add_tanh_0_i32(float *b0, float *b1, float *b2, int [[M:s[0-9]+]]) {
// CHECK: for (int t = blockIdx.x * (int)blockDim.x + threadIdx.x; t < ([[M]] * 3); t += gridDim.x * (int)blockDim.x)
// CHECK: reduce_1(float *b0, float *b1, i64
// CHECK: float [[LOCAL:local[0-9]+]];
// CHECK: [[LOCAL]] = 0.0f;
// CHECK: for (i64 [[R:r[0-9]+]] = 0; [[R]] < 3; ++[[R]])
// CHECK: b1{{\[.*\]}} = [[LOCAL]];
// CHECK: reduce_1_i32(float *b0, float *b1, int
// CHECK-NOT: __global__
func.func @main(%a: tensor<?x3xf32> {dl.dims = ["N", 3], dl.name = "a"},
                %b: tensor<3xf32> {dl.name = "b"})
    -> (tensor<?x3xf32> {dl.name = "y"}, tensor<?xf32> {dl.name = "z"}) {
  %0 = dl.add %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %1 = dl.tanh %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = dl.reduce %1 {kind = 0 : i32, axes = array<i64: 1>, keep_dims = false} : (tensor<?x3xf32>) -> tensor<?xf32>
  return %1, %2 : tensor<?x3xf32>, tensor<?xf32>
}
