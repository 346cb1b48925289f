// The passes that make a program train. IR before and after stands here and
// nowhere else.

#ifndef DLC_PASSES_TRAIN_PASSES_TD
#define DLC_PASSES_TRAIN_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildGradients : Pass<"dl-build-gradients", "::mlir::func::FuncOp"> {
  let summary = "Adds the gradients of a loss to the results of a function.";
  let description = [{
    The loss is the first result and has one element. Reverse mode: each op
    between the chosen arguments and the loss emits its own vector-Jacobian
    product in dl ops (Differentiable); a value with several users sums what
    comes back. Ops that no chosen argument reaches get nothing.

    ```mlir
    // Before
    func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
      %y = dl.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %l = dl.reduce %y {axes = array<i64: 0>, keep_dims = false, kind = 0 : i32} : (tensor<4xf32>) -> tensor<f32>
      return %l : tensor<f32>
    }
    // After
    func.func @f(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
      %y = dl.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %l = dl.reduce %y {axes = array<i64: 0>, keep_dims = false, kind = 0 : i32} : (tensor<4xf32>) -> tensor<f32>
      %one = dl.constant dense<1.0> : tensor<f32>
      %s = dl.constant dense<4> : tensor<1xi64>
      %dy = dl.expand %one, %s : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
      %dx = dl.mul %dy, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %l, %dx : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
  let options = [ListOption<"wrt", "wrt", "unsigned",
                            "Arguments to differentiate by; none: all of floats">];
}

#endif // DLC_PASSES_TRAIN_PASSES_TD
