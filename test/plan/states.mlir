// Functions with states become entries; the plan says which buffers are states.
// RUN: dlc compile %s --stop-after plan | FileCheck %s

// CHECK-LABEL: plan.program "" entry "infer"
// CHECK:         %[[W:.+]] = plan.buffer "w" state role "parameter" {{.*}}value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         plan.dispatch
// CHECK-NOT:     plan.copy
func.func @infer(%x: tensor<2xf32> {dl.dims = [2], dl.name = "x"},
                 %w: tensor<2xf32> {dl.dims = [2], dl.state = "w", dl.role = "parameter",
                                    dl.initial = dense<[1.0, 2.0]> : tensor<2xf32>})
    -> (tensor<2xf32> {dl.name = "y"}) {
  %y = dl.mul %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// `w` is updated where it is; the old value of `w` moves to `last` through a copy that
// is made before.

// CHECK-LABEL: plan.program "" entry "step"
// CHECK:         plan.buffer "w" state
// CHECK:         %[[LAST:.+]] = plan.buffer "last" state role "moment"
// CHECK:         plan.copy
// CHECK:         plan.copy %{{.*}} to %[[LAST]]
func.func @step(%x: tensor<2xf32> {dl.dims = [2], dl.name = "x"},
                %w: tensor<2xf32> {dl.dims = [2], dl.state = "w", dl.role = "parameter",
                                   dl.initial = dense<[1.0, 2.0]> : tensor<2xf32>},
                %last: tensor<2xf32> {dl.dims = [2], dl.state = "last", dl.role = "moment"})
    -> (tensor<2xf32> {dl.name = "y"}, tensor<2xf32> {dl.state = "w"}, tensor<2xf32> {dl.state = "last"}) {
  %n = dl.add %w, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = dl.mul %n, %last : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y, %n, %w : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
