// What an op must be able to tell the compiler about itself. A pass asks an
// interface; it never switches on op names.

#ifndef DLC_DIALECTS_DL_INTERFACES_TD
#define DLC_DIALECTS_DL_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Dl_InferType : OpInterface<"InferType"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    The one definition of an op's result shapes, symbolic dims included. It
    serves builders (`make<Op>`), the verifier and the whole-program
    `ShapeAnalysis`. The default is that of an elementwise op: all operands
    broadcast, the element type of the first operand.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Checks the operands and calls `c.addResult(...)` once per result.
        Errors are emitted through `c.error()`.
      }],
      "::llvm::LogicalResult", "inferTypes", (ins "::dlc::dl::InferContext &":$c),
      /*body=*/"", /*default=*/"return ::dlc::dl::inferElementwise($_op, c);">
  ];
  let verify = "return ::dlc::dl::verifyInferredTypes($_op);";
}

def Dl_LowersToLinalg : OpInterface<"LowersToLinalg"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    The op can be written as linalg, tensor and scf ops on tensors: the one
    definition of its value. The default serves Elementwise ops.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/"Emits the value of each result.",
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "lowerToLinalg",
      (ins "::dlc::dl::LinalgLowering &":$l), "",
      "return ::dlc::dl::lowerElementwise($_op, l);">,
    InterfaceMethod<
      /*desc=*/"How the op may share a kernel with its neighbours.",
      "::dlc::dl::FusionRole", "fusionRole", (ins), "",
      "return ::dlc::dl::defaultFusionRole($_op);">
  ];
}

def Dl_Elementwise : OpInterface<"Elementwise"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    result[i] = f(operands[i]) after broadcasting. The scalar function also
    works on vectors, so a contraction's epilogue is printed by the same code.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Emits f. `x` holds one signless scalar (or vector) per operand, already
        in compute precision: f16, bf16 and 8-bit floats as f32, bool as i1.
        The value returned is converted to the result's element type by the
        caller.
      }],
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc, "::mlir::ValueRange":$x)>,
    InterfaceMethod<
      /*desc=*/[{
        f on sizes, for shape arithmetic; null when sizes cannot express it.
      }],
      "::mlir::AffineExpr", "buildDim",
      (ins "::llvm::ArrayRef<::mlir::AffineExpr>":$x), "", "return {};">
  ];
}

def Dl_ChecksIndices : OpInterface<"ChecksIndices"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    The op reads positions from an integer operand. The plan checks them
    before the op runs, so that a bad index is an error and never a stray read.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/"The operands to check and the half-open range for each.",
      "::llvm::SmallVector<::dlc::dl::IndexRange>", "indexRanges",
      (ins "::dlc::dl::InferContext &":$c)>
  ];
}

def Dl_Decomposes : OpInterface<"Decomposes"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    A composite op that a target may take whole; where it does not,
    `dl-decompose` replaces it by simpler dl ops.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/"Emits the value of each result in dl ops.",
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::mlir::OpBuilder &":$b)>,
    InterfaceMethod<
      /*desc=*/"True when the CPU target has a kernel for the op as it stands.",
      "bool", "hasKernel", (ins), "", "return false;">
  ];
}

def Dl_Differentiable : OpInterface<"Differentiable"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    The op can write down its own vector-Jacobian product, in dl ops, so that it
    is fused and lowered like any other and can be differentiated again. Used
    only by `buildGradients`.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Given d(loss)/d(result) for each result (null for one that the loss does
        not depend on; never all), emits d(loss)/d(operand) for each operand, of
        its shape, in operand order. Null means zero everywhere: integers, and
        what is constant piece by piece. Operands that nobody needs may be left
        null (`g.needs`); a gradient that does not exist is refused (`g.refuse`).
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildGradient",
      (ins "::dlc::dl::GradientBuilder &":$g, "::llvm::ArrayRef<::mlir::Value>":$resultGrads)>
  ];
}

def Dl_HasCost : OpInterface<"HasCost"> {
  let cppNamespace = "::dlc::dl";
  let description = "The op can count its work; read by fusion and the roofline model.";
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Floating-point operations as an expression over the dims that `dims`
        gives for the op's operands and results.
      }],
      "::mlir::AffineExpr", "countFlops",
      (ins "::llvm::function_ref<::llvm::ArrayRef<::mlir::AffineExpr>(::mlir::Value)>":$dims)>
  ];
}

def Dl_LayoutAware : OpInterface<"LayoutAware"> {
  let cppNamespace = "::dlc::dl";
  let description = [{
    The op can be rewritten so that chosen operands and results have their
    axes permuted, e.g. NCHW to NHWC (`perm` = [0, 2, 3, 1]). Used only by
    the layout passes.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        True when the op gets faster channels-last (convolutions, pooling).
      }],
      "bool", "prefersChannelsLast", (ins), "", "return false;">,
    InterfaceMethod<
      /*desc=*/[{
        True when operand `i` has its axes permuted with the op. By default
        those of the rank of the result.
      }],
      "bool", "permutesOperand", (ins "unsigned":$i), "",
      "return ::dlc::dl::hasRankOfResult($_op, i);">,
    InterfaceMethod<
      /*desc=*/[{
        Emits the op on operands that are already permuted by `perm` (those of
        the permuted rank; others are unchanged) and returns the permuted
        results, or failure when the op cannot.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "permuteLayout",
      (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<int64_t>":$perm)>
  ];
}

#endif // DLC_DIALECTS_DL_INTERFACES_TD
