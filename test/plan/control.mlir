// RUN: dlc-compiler compile %s --stop-after=plan | FileCheck %s

// Branches leave their results in one buffer. A loop's carried buffer is written after
// the iteration; what is declared outside and read inside stays alive to the loop's end:
// no buffer of the body may lie over it.

// CHECK:         %[[X:[0-9]+]] = plan.buffer "x" input
// CHECK:         %[[OUTER:[0-9]+]] = plan.buffer "" arena #{{map[0-9]*}} at 0 : tensor<64xf32>
// CHECK-NOT:     at 0 :
// CHECK:         plan.dispatch "exp_0" ins(%[[X]] {{.*}} outs(%[[OUTER]]
// CHECK:         plan.loop counter {{.*}} carries
// CHECK:           plan.if %{{.+}} : tensor<i1> {
// CHECK:             plan.dispatch "mul_{{[0-9]+}}" ins(%{{.*}}, %[[OUTER]]
// CHECK:           } else {
// CHECK:             plan.dispatch "sub_{{[0-9]+}}" ins(%{{.*}}, %[[OUTER]]
// CHECK:           }
// CHECK:         }
func.func @main(%x: tensor<64xf32> {dl.name = "x"}, %flag: tensor<i1> {dl.name = "flag"})
    -> (tensor<64xf32> {dl.name = "y"}) {
  %e = dl.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %t = dl.constant dense<5> : tensor<i64>
  %y:2 = dl.loop %t, %x {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<i64>, tensor<64xf32>) -> (tensor<64xf32>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<64xf32>):
    %s = dl.relu %v : (tensor<64xf32>) -> tensor<64xf32>
    %w = dl.if %flag : (tensor<i1>) -> tensor<64xf32> {
      %m = dl.mul %s, %e : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      dl.yield %m : tensor<64xf32>
    } else {
      %m = dl.sub %s, %e : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      dl.yield %m : tensor<64xf32>
    }
    dl.yield %go, %w : tensor<i1>, tensor<64xf32>
  }
  return %y#0 : tensor<64xf32>
}
