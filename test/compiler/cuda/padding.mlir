// Padding that only loops read is a view: no launch fills a border, no memory holds it,
// and sizes that only a run knows are no obstacle.
// RUN: rm -rf %t && dlc-compiler compile %s -o %t.dlc --target=cuda:source --dump-dir %t
// RUN: cat %t/cuda/packed_conv*.cu | FileCheck %s

// One function per width of indices.
// CHECK: __global__
// CHECK: __global__
// CHECK-NEXT: packed_conv{{.*}}_i32(
// CHECK: [[Y:at[0-9]+]] = {{.*}} - 1;
// CHECK: [[X:at[0-9]+]] = {{.*}} - 1;
// CHECK: ([[Y]] >= 0 && [[Y]] < s3 && [[X]] >= 0 && [[X]] < s4 ? b0[{{.*}}] : 0.0f)
// CHECK-NOT: __global__
func.func @main(%x: tensor<1x8x?x?xf32> {dl.dims = [1, 8, "H", "W"], dl.name = "x"},
                %w: tensor<16x8x3x3xf32> {dl.name = "w"}) -> (tensor<1x16x?x?xf32> {dl.name = "y"}) {
  %0 = dl.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                       dilations = array<i64: 1, 1>, groups = 1 : i64}
     : (tensor<1x8x?x?xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x?x?xf32>
  return %0 : tensor<1x16x?x?xf32>
}
