// A contraction with room for tiles is a tiled matrix product whose epilogue holds what
// follows it; f16 goes to tensor cores.
// RUN: rm -rf %t && dlc-compiler compile %s -o %t.dlc --target=cuda:source --dump-dir %t
// RUN: cat %t/cuda/*.cu | FileCheck %s

// CHECK-DAG: typedef SimtTile<float> Tile;
// CHECK-DAG: typedef MmaTile<f16> Tile;
// CHECK: tile.multiply(shared);
// CHECK: if (m >= {{.*}} || n >= {{.*}})
// CHECK: tile.result(e)
func.func @main(%x: tensor<?x64xf32> {dl.dims = ["N", 64], dl.name = "x"},
                %w: tensor<64x96xf32> {dl.name = "w"},
                %h: tensor<32x64xf16> {dl.name = "h"}, %v: tensor<64x48xf16> {dl.name = "v"})
    -> (tensor<?x96xf32> {dl.name = "y"}, tensor<32x48xf16> {dl.name = "z"}) {
  %0 = dl.matmul %x, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %1 = dl.relu %0 : (tensor<?x96xf32>) -> tensor<?x96xf32>
  %2 = dl.matmul %h, %v : (tensor<32x64xf16>, tensor<64x48xf16>) -> tensor<32x48xf16>
  return %1, %2 : tensor<?x96xf32>, tensor<32x48xf16>
}
