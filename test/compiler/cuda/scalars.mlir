// Scalar code keeps the CPU's values: wrapping sums are unsigned, NaN wins a maximum,
// unsigned types compare unsigned, bf16 is computed in f32.
// RUN: rm -rf %t && dlc-compiler compile %s -o %t.dlc --target=cuda:source --dump-dir %t
// RUN: cat %t/cuda/add_0.cu | FileCheck %s --check-prefix=ADD
// RUN: cat %t/cuda/max_1.cu | FileCheck %s --check-prefix=MAX
// RUN: cat %t/cuda/compare_2.cu | FileCheck %s --check-prefix=LESS
// RUN: cat %t/cuda/mul_3.cu | FileCheck %s --check-prefix=MUL

// ADD: (i32)((u32){{v[0-9]+}} + (u32){{v[0-9]+}})
// MAX: dlc_maximum({{v[0-9]+}}, {{v[0-9]+}})
// LESS: ((u8){{v[0-9]+}} < (u8){{v[0-9]+}})
// MUL: to_float({{v[0-9]+}})
// MUL: bf16_from(
func.func @main(%i: tensor<8xi32> {dl.name = "i"}, %x: tensor<8xf32> {dl.name = "x"},
                %x2: tensor<8xf32> {dl.name = "x2"},
                %u: tensor<8xui8> {dl.name = "u"}, %u2: tensor<8xui8> {dl.name = "u2"}, %h: tensor<8xbf16> {dl.name = "h"})
    -> (tensor<8xi32> {dl.name = "a"}, tensor<8xf32> {dl.name = "b"},
        tensor<8xi1> {dl.name = "c"}, tensor<8xbf16> {dl.name = "d"}) {
  %0 = dl.add %i, %i : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %1 = dl.max %x, %x2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = dl.compare %u, %u2 {predicate = 1 : i32} : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
  %3 = dl.mul %h, %h : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  return %0, %1, %2, %3 : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>, tensor<8xbf16>
}
