// RUN: dlc-opt %s --dl-infer-shapes --canonicalize --split-input-file | FileCheck %s

// What the types leave open and the inputs decide becomes static.

// CHECK-LABEL: @folds_shape(
// CHECK:         %[[S:.+]] = dl.constant dense<[2, 3]> : tensor<2xi64>
// CHECK:         return %[[S]]
func.func @folds_shape(%x: tensor<2x3xf32>) -> tensor<?xi64> {
  %s = dl.shape_of %x : (tensor<2x3xf32>) -> tensor<2xi64>
  %c = dl.constant dense<0> : tensor<2xi64>
  %t = dl.add %s, %c : (tensor<2xi64>, tensor<2xi64>) -> tensor<?xi64>
  return %t : tensor<?xi64>
}

// -----

// A symbolic size stays symbolic.

// CHECK-LABEL: @keeps_symbol(
// CHECK:         dl.relu %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @keeps_symbol(%x: tensor<?x3xf32> {dl.dims = ["N", 3]}) -> tensor<?x?xf32> {
  %y = dl.relu %x : (tensor<?x3xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
