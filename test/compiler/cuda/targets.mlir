// What --target takes, and what it says to the rest.
// RUN: dlc-compiler compile %s -o %t.dlc --target=cpu,cuda:source | FileCheck %s
// RUN: not dlc-compiler compile %s -o %t.dlc --target=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not dlc-compiler compile %s -o %t.dlc --target=cuda:sm_35 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: kernels for cpu,cuda:source
// UNKNOWN: 'tpu' is not built in
// OLD: {{'sm_35' is no architecture|libnvrtc}}
func.func @main(%x: tensor<8xf32> {dl.name = "x"}) -> (tensor<8xf32> {dl.name = "y"}) {
  %0 = dl.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
