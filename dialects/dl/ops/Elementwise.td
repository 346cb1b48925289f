// Elementwise ops: one line each. `scalar` is the body of buildScalar; helpers
// that choose by element type (`add`, `divide`, ...) live in ScalarMath.h.
// `gradient` (none: not differentiable) lists, per operand x[i], d(loss)/d(x[i])
// before it is summed to the operand's shape, from dy = d(loss)/dy and the result
// y; its helpers live in Gradient.h. {Value()} is a derivative that is 0.

#ifndef DLC_DIALECTS_DL_OPS_ELEMENTWISE_TD
#define DLC_DIALECTS_DL_OPS_ELEMENTWISE_TD

include "dialects/dl/Dl.td"
include "dialects/dl/Enums.td"
include "dialects/dl/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dl_ElementwiseOp<string mnemonic, code scalar, code gradient, list<Trait> traits>
    : Dl_Op<mnemonic, [Pure, Dl_LowersToLinalg,
        DeclareOpInterfaceMethods<Dl_Elementwise, ["buildScalar"]>] # traits #
        !if(!empty(gradient), []<Trait>, [DeclareOpInterfaceMethods<Dl_Differentiable>]<Trait>)> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &b, ::mlir::Location loc,
                                         ::mlir::ValueRange x) {
      [[maybe_unused]] ScalarMath m{b, loc, isUnsignedOperand(getOperation())};
      }] # scalar # [{
    }
  }] # !if(!empty(gradient), "", [{
    ::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>
    $cppClass::buildGradient(GradientBuilder &g, ::llvm::ArrayRef<::mlir::Value> grads) {
      [[maybe_unused]] Value dy = grads[0], y = getResult();
      [[maybe_unused]] OperandRange x = getOperation()->getOperands();
      return g.sumToOperands(}] # gradient # [{);
    }
  }]);
}

class Dl_Unary<string mnemonic, string formula, code scalar, code gradient = "">
    : Dl_ElementwiseOp<mnemonic, scalar, gradient, [Dl_InferType]> {
  let summary = "Elementwise " # formula # ".";
  let description = "`result[i] = " # formula # "`";
  let arguments = (ins AnyRankedTensor:$input);
}

class Dl_Binary<string mnemonic, string formula, code scalar, code gradient = "">
    : Dl_ElementwiseOp<mnemonic, scalar, gradient, [Dl_InferType]> {
  let summary = "Elementwise " # formula # ", broadcasting.";
  let description = "`result[i] = " # formula # "`; operands broadcast as in numpy and have one element type.";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
}

// A binary op that shape arithmetic uses; buildDim is in Elementwise.cpp.
class Dl_SizeBinary<string mnemonic, string formula, code scalar, code gradient>
    : Dl_ElementwiseOp<mnemonic, scalar, gradient, [Dl_InferType]> {
  let summary = "Elementwise " # formula # ", broadcasting.";
  let description = "`result[i] = " # formula # "`; operands broadcast as in numpy and have one element type.";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let extraClassDeclaration = "::mlir::AffineExpr buildDim(::llvm::ArrayRef<::mlir::AffineExpr> x);";
}

// Unary, floats.
def Dl_AbsOp : Dl_Unary<"abs", "|x|", [{ return m.abs(x[0]); }],
  [{ {g.mul(dy, g.sign(x[0]))} }]>;
def Dl_NegOp : Dl_Unary<"neg", "-x", [{ return m.negate(x[0]); }],
  [{ {g.neg(dy)} }]>;
def Dl_SignOp : Dl_Unary<"sign", "-1, 0 or 1 by the sign of x", [{ return m.sign(x[0]); }],
  [{ {Value()} }]>;
def Dl_ExpOp : Dl_Unary<"exp", "e^x", [{ return math::ExpOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, y)} }]>;
def Dl_Expm1Op : Dl_Unary<"expm1", "e^x - 1", [{ return math::ExpM1Op::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.offset(y, 1))} }]>;
def Dl_LogOp : Dl_Unary<"log", "ln x", [{ return math::LogOp::create(b, loc, x[0]); }],
  [{ {g.div(dy, x[0])} }]>;
def Dl_Log1pOp : Dl_Unary<"log1p", "ln(1 + x)", [{ return math::Log1pOp::create(b, loc, x[0]); }],
  [{ {g.div(dy, g.offset(x[0], 1))} }]>;
def Dl_SqrtOp : Dl_Unary<"sqrt", "sqrt(x)", [{ return math::SqrtOp::create(b, loc, x[0]); }],
  [{ {g.div(g.scale(dy, 0.5), y)} }]>;
def Dl_RsqrtOp : Dl_Unary<"rsqrt", "1 / sqrt(x)", [{ return m.divide(m.constant(x[0].getType(), 1), math::SqrtOp::create(b, loc, x[0])); }],
  [{ {g.mul(g.scale(dy, -0.5), g.mul(y, g.square(y)))} }]>;
def Dl_SinOp : Dl_Unary<"sin", "sin x", [{ return math::SinOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.cos(x[0]))} }]>;
def Dl_CosOp : Dl_Unary<"cos", "cos x", [{ return math::CosOp::create(b, loc, x[0]); }],
  [{ {g.neg(g.mul(dy, g.sin(x[0])))} }]>;
def Dl_TanOp : Dl_Unary<"tan", "tan x", [{ return math::TanOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.offset(g.square(y), 1))} }]>;
def Dl_AsinOp : Dl_Unary<"asin", "arcsin x", [{ return math::AsinOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.rsqrt(g.offset(g.neg(g.square(x[0])), 1)))} }]>;
def Dl_AcosOp : Dl_Unary<"acos", "arccos x", [{ return math::AcosOp::create(b, loc, x[0]); }],
  [{ {g.neg(g.mul(dy, g.rsqrt(g.offset(g.neg(g.square(x[0])), 1))))} }]>;
def Dl_AtanOp : Dl_Unary<"atan", "arctan x", [{ return math::AtanOp::create(b, loc, x[0]); }],
  [{ {g.div(dy, g.offset(g.square(x[0]), 1))} }]>;
def Dl_SinhOp : Dl_Unary<"sinh", "sinh x", [{ return math::SinhOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.cosh(x[0]))} }]>;
def Dl_CoshOp : Dl_Unary<"cosh", "cosh x", [{ return math::CoshOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.sinh(x[0]))} }]>;
def Dl_TanhOp : Dl_Unary<"tanh", "tanh x", [{ return math::TanhOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.offset(g.neg(g.square(y)), 1))} }]>;
def Dl_AsinhOp : Dl_Unary<"asinh", "arsinh x", [{ return math::AsinhOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.rsqrt(g.offset(g.square(x[0]), 1)))} }]>;
def Dl_AcoshOp : Dl_Unary<"acosh", "arcosh x", [{ return math::AcoshOp::create(b, loc, x[0]); }],
  [{ {g.mul(dy, g.rsqrt(g.offset(g.square(x[0]), -1)))} }]>;
def Dl_AtanhOp : Dl_Unary<"atanh", "artanh x", [{ return math::AtanhOp::create(b, loc, x[0]); }],
  [{ {g.div(dy, g.offset(g.neg(g.square(x[0])), 1))} }]>;
def Dl_ErfOp : Dl_Unary<"erf", "erf x", [{ return math::ErfOp::create(b, loc, x[0]); }],
  [{ {g.mul(g.scale(dy, 1.1283791670955126), g.exp(g.neg(g.square(x[0]))))} }]>;
def Dl_FloorOp : Dl_Unary<"floor", "the largest integer <= x", [{ return math::FloorOp::create(b, loc, x[0]); }],
  [{ {Value()} }]>;
def Dl_CeilOp : Dl_Unary<"ceil", "the smallest integer >= x", [{ return math::CeilOp::create(b, loc, x[0]); }],
  [{ {Value()} }]>;
def Dl_RoundOp : Dl_Unary<"round", "x to the nearest integer, ties to even", [{ return math::RoundEvenOp::create(b, loc, x[0]); }],
  [{ {Value()} }]>;
def Dl_ReluOp : Dl_Unary<"relu", "max(x, 0), NaN kept", [{ return m.relu(x[0]); }],
  [{ {g.select(g.isPositive(y), dy, g.zero(dy))} }]>;
def Dl_SigmoidOp : Dl_Unary<"sigmoid", "1 / (1 + e^-x)", [{ return m.sigmoid(x[0]); }],
  [{ {g.mul(dy, g.mul(y, g.offset(g.neg(y), 1)))} }]>;
def Dl_NotOp : Dl_Unary<"not", "every bit of x inverted (logical not for bool)", [{ return m.invert(x[0]); }]>;

// Binary.
def Dl_AddOp : Dl_SizeBinary<"add", "x + y", [{ return m.add(x[0], x[1]); }],
  [{ {dy, dy} }]>;
def Dl_SubOp : Dl_SizeBinary<"sub", "x - y", [{ return m.subtract(x[0], x[1]); }],
  [{ {dy, g.neg(dy)} }]>;
def Dl_MulOp : Dl_SizeBinary<"mul", "x * y", [{ return m.multiply(x[0], x[1]); }],
  [{ {g.mul(dy, x[1]), g.mul(dy, x[0])} }]>;
def Dl_DivOp : Dl_SizeBinary<"div", "x / y, integers truncated toward 0 and x / 0 = 0", [{ return m.divide(x[0], x[1]); }],
  [{ {g.div(dy, x[1]), g.neg(g.div(g.mul(dy, y), x[1]))} }]>;
def Dl_MinOp : Dl_SizeBinary<"min", "the smaller of x and y, NaN if either is", [{ return m.minimum(x[0], x[1]); }],
  [{ g.choose(g.compare(Comparison::le, x[0], x[1]), dy) }]>;
def Dl_MaxOp : Dl_SizeBinary<"max", "the larger of x and y, NaN if either is", [{ return m.maximum(x[0], x[1]); }],
  [{ g.choose(g.compare(Comparison::ge, x[0], x[1]), dy) }]>;
def Dl_ModOp : Dl_SizeBinary<"mod", "x - y * floor(x / y), the sign of y; integers mod 0 = 0", [{ return m.modulo(x[0], x[1]); }],
  [{ {dy, g.neg(g.mul(dy, g.floor(g.div(x[0], x[1]))))} }]>;
def Dl_RemOp : Dl_Binary<"rem", "x - y * trunc(x / y), the sign of x (C's fmod)", [{ return m.remainder(x[0], x[1]); }],
  [{ {dy, g.neg(g.mul(dy, g.round(g.div(g.sub(x[0], y), x[1]))))} }]>;
def Dl_PowOp : Dl_Binary<"pow", "x^y", [{ return m.power(x[0], x[1]); }],
  [{ g.power(dy, x[0], x[1], y) }]>;
def Dl_Atan2Op : Dl_Binary<"atan2", "the angle of (y, x)", [{ return math::Atan2Op::create(b, loc, x[0], x[1]); }],
  [{ {g.div(g.mul(dy, x[1]), g.add(g.square(x[0]), g.square(x[1]))), g.neg(g.div(g.mul(dy, x[0]), g.add(g.square(x[0]), g.square(x[1]))))} }]>;
def Dl_AndOp : Dl_Binary<"and", "x & y", [{ return arith::AndIOp::create(b, loc, x[0], x[1]); }]>;
def Dl_OrOp : Dl_Binary<"or", "x | y", [{ return arith::OrIOp::create(b, loc, x[0], x[1]); }]>;
def Dl_XorOp : Dl_Binary<"xor", "x ^ y", [{ return arith::XOrIOp::create(b, loc, x[0], x[1]); }]>;
def Dl_ShiftLeftOp : Dl_Binary<"shift_left", "x << y, 0 once y reaches the width", [{ return m.shift(x[0], x[1], true); }]>;
def Dl_ShiftRightOp : Dl_Binary<"shift_right", "x >> y; once y reaches the width only copies of the sign bit (0 for unsigned) are left", [{ return m.shift(x[0], x[1], false); }]>;

def Dl_CompareOp : Dl_ElementwiseOp<"compare", [{ return m.compare(getPredicate(), x[0], x[1]); }], "",
    [DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "Elementwise comparison, broadcasting, to bool.";
  let description = "`result[i] = x <predicate> y`; false when either is NaN.";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Dl_Comparison:$predicate);
  let extraClassDeclaration = "::mlir::AffineExpr buildDim(::llvm::ArrayRef<::mlir::AffineExpr> x);";
}

def Dl_IsNanOp : Dl_ElementwiseOp<"is_nan", [{ return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x[0], x[0]); }], "",
    [DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "True where the element is NaN.";
  let arguments = (ins AnyRankedTensor:$input);
}

def Dl_SelectOp : Dl_ElementwiseOp<"select", [{ return arith::SelectOp::create(b, loc, x[0], x[1], x[2]); }],
    [{ {Value(), g.select(x[0], dy, g.zero(dy)), g.select(x[0], g.zero(dy), dy)} }],
    [DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "Elementwise choice, broadcasting.";
  let description = "`result[i] = condition ? x : y`";
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$on_true, AnyRankedTensor:$on_false);
  let extraClassDeclaration = "::mlir::AffineExpr buildDim(::llvm::ArrayRef<::mlir::AffineExpr> x);";
}

def Dl_CastOp : Dl_ElementwiseOp<"cast", [{ return m.cast(x[0], elementOf(getInput()), elementOf(getResult())); }],
    [{ {g.cast(dy, elementOf(getInput()))} }],
    [DeclareOpInterfaceMethods<Dl_InferType, ["inferTypes"]>]> {
  let summary = "Converts the element type.";
  let description = [{
    Floats round to nearest even. Floats to integers truncate toward zero and
    saturate, NaN gives 0. Integers to narrower integers wrap. Anything to bool
    is `x != 0`.
  }];
  let arguments = (ins AnyRankedTensor:$input, TypeAttr:$to);
  let extraClassDeclaration = "::mlir::AffineExpr buildDim(::llvm::ArrayRef<::mlir::AffineExpr> x);";
}

#endif // DLC_DIALECTS_DL_OPS_ELEMENTWISE_TD
