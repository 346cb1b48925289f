// Softmax: one launch, a block per row; the row's maximum and sum are variables.
// RUN: rm -rf %t && dlc-compiler compile %s -o %t.dlc --target=cuda:source --dump-dir %t
// RUN: cat %t/cuda/*.cu | FileCheck %s

// CHECK: __launch_bounds__(128)
// CHECK-NEXT: softmax_0(
// CHECK: for (i64 row = blockIdx.x; row < {{.*}}; row += gridDim.x)
// CHECK: [[MAX:partial[0-9]+]] = dlc_block_reduce([[MAX]], [](float a, float b) { return dlc_maximum(a, b); }
// CHECK: expf(
// CHECK: __syncthreads();
// CHECK: [[SUM:partial[0-9]+]] = dlc_block_reduce([[SUM]], [](float a, float b) { return (a + b); }
// CHECK: softmax_0_i32(
// CHECK: for (int row = blockIdx.x;
// CHECK-NOT: __global__
func.func @main(%x: tensor<?x100xf32> {dl.dims = ["N", 100], dl.name = "x"})
    -> (tensor<?x100xf32> {dl.name = "y"}) {
  %0 = dl.softmax %x {axis = 1 : i64} : (tensor<?x100xf32>) -> tensor<?x100xf32>
  return %0 : tensor<?x100xf32>
}
