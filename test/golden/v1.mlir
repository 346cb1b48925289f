// An artifact of format version 1, made by the first release for x86-64-v2,
// keeps loading and giving the same numbers. Never remake it: add a v2 beside it.
// RUN: dlc run %S/v1.dlc --inputs %S/v1-in.npz --compare %S/v1-out.npz
//
// The program that it was compiled from:

func.func @main(%x: tensor<?x3xf32> {dl.dims = ["N", 3], dl.name = "x"})
    -> (tensor<?x2xf32> {dl.name = "y"}) {
  %w = dl.constant dense<[[1.0, -2.0], [0.5, 4.0], [-1.0, 0.25]]> : tensor<3x2xf32>
  %b = dl.constant dense<[0.5, -0.5]> : tensor<2xf32>
  %p = dl.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %s = dl.add %p, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %y = dl.relu %s : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
