// Scalar code: every arith and math op as a C++ expression that gives the value
// that it has on the CPU, for NaN, overflow and division too.

#include "compiler/targets/cuda/Printer.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

bool isNarrow(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

std::string integerName(unsigned width, bool isUnsigned) {
  return (isUnsigned ? "u" : "i") + std::to_string(width);
}

std::string unsignedName(Type type) {
  return type.isIndex() ? "u64" : integerName(type.getIntOrFloatBitWidth(), true);
}

std::string cast(const std::string &type, const std::string &x) { return "(" + type + ")" + x; }

/// The C function of a math op without its suffix; empty when there is none.
StringRef mathFunction(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("math.exp", "exp").Case("math.exp2", "exp2").Case("math.expm1", "expm1")
      .Case("math.log", "log").Case("math.log2", "log2").Case("math.log10", "log10")
      .Case("math.log1p", "log1p").Case("math.sqrt", "sqrt").Case("math.rsqrt", "rsqrt")
      .Case("math.cbrt", "cbrt").Case("math.powf", "pow").Case("math.sin", "sin")
      .Case("math.cos", "cos").Case("math.tan", "tan").Case("math.sinh", "sinh")
      .Case("math.cosh", "cosh").Case("math.tanh", "tanh").Case("math.asin", "asin")
      .Case("math.acos", "acos").Case("math.atan", "atan").Case("math.atan2", "atan2")
      .Case("math.asinh", "asinh").Case("math.acosh", "acosh").Case("math.atanh", "atanh")
      .Case("math.erf", "erf").Case("math.erfc", "erfc").Case("math.absf", "fabs")
      .Case("math.floor", "floor").Case("math.ceil", "ceil").Case("math.trunc", "trunc")
      .Case("math.round", "round").Case("math.roundeven", "rint").Case("math.fma", "fma")
      .Case("math.copysign", "copysign").Case("arith.remf", "fmod")
      .Case("arith.maxnumf", "fmax").Case("arith.minnumf", "fmin")
      .Case("arith.maximumf", "dlc_maximum").Case("arith.minimumf", "dlc_minimum")
      .Default("");
}

std::string compareFloats(arith::CmpFPredicate predicate, const std::string &a,
                          const std::string &b) {
  using P = arith::CmpFPredicate;
  auto is = [&](const char *op) { return "(" + a + op + b + ")"; };
  switch (predicate) {
  case P::AlwaysFalse: return "false";
  case P::AlwaysTrue: return "true";
  case P::OEQ: return is(" == ");
  case P::OGT: return is(" > ");
  case P::OGE: return is(" >= ");
  case P::OLT: return is(" < ");
  case P::OLE: return is(" <= ");
  case P::ONE: return "(" + is(" < ") + " || " + is(" > ") + ")";
  case P::ORD: return "(" + a + " == " + a + " && " + b + " == " + b + ")";
  case P::UEQ: return "!(" + is(" < ") + " || " + is(" > ") + ")";
  case P::UGT: return "!" + is(" <= ");
  case P::UGE: return "!" + is(" < ");
  case P::ULT: return "!" + is(" >= ");
  case P::ULE: return "!" + is(" > ");
  case P::UNE: return is(" != ");
  case P::UNO: return "(" + a + " != " + a + " || " + b + " != " + b + ")";
  }
  llvm_unreachable("every predicate is above");
}

std::string compareIntegers(arith::CmpIOp op, std::string a, std::string b) {
  using P = arith::CmpIPredicate;
  const char *sign = nullptr;
  bool isUnsigned = false;
  switch (op.getPredicate()) {
  case P::eq: sign = " == "; break;
  case P::ne: sign = " != "; break;
  case P::slt: sign = " < "; break;
  case P::sle: sign = " <= "; break;
  case P::sgt: sign = " > "; break;
  case P::sge: sign = " >= "; break;
  case P::ult: sign = " < ", isUnsigned = true; break;
  case P::ule: sign = " <= ", isUnsigned = true; break;
  case P::ugt: sign = " > ", isUnsigned = true; break;
  case P::uge: sign = " >= ", isUnsigned = true; break;
  }
  Type type = op.getLhs().getType();
  if (isUnsigned && !type.isInteger(1)) {
    a = cast(unsignedName(type), a);
    b = cast(unsignedName(type), b);
  }
  return "(" + a + sign + b + ")";
}

/// Wrapping arithmetic: unsigned in C++, where signed overflow has no meaning.
/// Indices never wrap: they stay as they are written.
std::string wrapping(Operation *op, const char *sign, ArrayRef<std::string> x) {
  Type type = op->getResult(0).getType();
  if (type.isIndex())
    return "(" + x[0] + sign + x[1] + ")";
  if (type.isInteger(1)) {
    // One bit: addition and subtraction are xor, multiplication is and.
    return "(" + x[0] + (StringRef(sign) == " * " ? " && " : " != ") + x[1] + ")";
  }
  bool isWide = type.getIntOrFloatBitWidth() == 64;
  std::string wide = isWide ? "u64" : "u32";
  return cast(typeName(type), "(" + cast(wide, x[0]) + sign + cast(wide, x[1]) + ")");
}

std::string bitwise(Operation *op, const char *sign, ArrayRef<std::string> x) {
  return cast(typeName(op->getResult(0).getType()), "(" + x[0] + sign + x[1] + ")");
}

/// Division and shifts, on unsigned operands where the op says so.
std::string asUnsigned(Operation *op, const char *sign, ArrayRef<std::string> x) {
  Type type = op->getResult(0).getType();
  std::string unsignedType = unsignedName(type);
  return cast(typeName(type),
              "(" + cast(unsignedType, x[0]) + sign + cast(unsignedType, x[1]) + ")");
}

/// Between integers of any width, and index.
std::string resize(Type from, Type to, const std::string &x, bool isUnsigned) {
  if (to.isInteger(1))
    return from.isInteger(1) ? x : "((" + x + " & 1) != 0)";
  if (from.isInteger(1))
    return cast(typeName(to), isUnsigned ? "(" + x + " ? 1 : 0)" : "(" + x + " ? -1 : 0)");
  if (isUnsigned)
    return cast(typeName(to), cast(unsignedName(from), x));
  return cast(typeName(to), x);
}

} // namespace

std::string typeName(Type type) {
  if (type.isIndex())
    return "i64";
  if (type.isInteger(1))
    return "bool";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3fn";
  if (isa<Float8E4M3FNUZType>(type))
    return "f8e4m3fnuz";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (isa<Float8E5M2FNUZType>(type))
    return "f8e5m2fnuz";
  return integerName(type.getIntOrFloatBitWidth(), false);
}

std::string literal(TypedAttr value) {
  Type type = value.getType();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (type.isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    int64_t number = integer.getValue().getSExtValue();
    if (number == INT64_MIN)
      return "(-9223372036854775807LL - 1)";
    os << number << (number > INT32_MAX || number < -INT32_MAX ? "LL" : "");
    if (number < 0)
      return "(" + text + ")";
    return text;
  }
  auto number = cast<FloatAttr>(value).getValue();
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  if (isNarrow(type)) {
    os << typeName(type) << "{" << llvm::format_hex(bits, 6) << "}";
    return text;
  }
  bool isDouble = type.isF64();
  double plain = isDouble ? number.convertToDouble() : double(number.convertToFloat());
  if (!number.isFinite()) {
    os << (isDouble ? "__longlong_as_double((long long)" : "__int_as_float((int)")
       << llvm::format_hex(bits, 10) << (isDouble ? "ull)" : "u)");
    return text;
  }
  // Short where that is exact, else in hexadecimal.
  if (plain == double(int64_t(plain)) && std::abs(plain) < 1e6 && !number.isNegZero())
    os << int64_t(plain) << ".0";
  else
    os << llvm::format("%a", plain);
  os << (isDouble ? "" : "f");
  return plain < 0 || number.isNegZero() ? "(" + text + ")" : text;
}

std::string Printer::name(Value value) {
  auto known = names.find(value);
  if (known != names.end())
    return known->second;
  TypedAttr attr;
  if (Operation *op = value.getDefiningOp()) {
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
      auto typed = dyn_cast<TypedAttr>(constantOp.getValue());
      if (typed && !isa<ShapedType>(typed.getType()))
        return names[value] = literal(typed);
    }
    // Scalar code computes with sizes as it likes, in 64 bits.
    if (auto dim = dyn_cast<memref::DimOp>(op))
      if (auto axis = dim.getConstantIndex())
        return names[value] = "(i64)" + view(dim.getSource()).sizes[*axis].text;
  } else if (parameters.contains(value)) {
    return names[value] = "(i64)" + sizeName(value);
  }
  problem = value.getDefiningOp() ? value.getDefiningOp() : function.getOperation();
  return "0";
}

/// Of an expression over loop indices.
static bool isNeverNegative(AffineExpr expr) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return c.getValue() >= 0;
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && isNeverNegative(binary.getLHS()) && isNeverNegative(binary.getRHS());
}

std::string Printer::affineText(AffineExpr expr, ArrayRef<std::string> dims,
                                ArrayRef<std::string> symbols) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return constant(c.getValue()).text;
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return dims[d.getPosition()];
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[s.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  // Indices of loops are never negative, so that C++ divides them as affine maps do.
  bool isPlain = symbols.empty() && isNeverNegative(binary.getLHS());
  std::string a = affineText(binary.getLHS(), dims, symbols);
  std::string b = affineText(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add: return "(" + a + " + " + b + ")";
  case AffineExprKind::Mul: return "(" + a + " * " + b + ")";
  case AffineExprKind::Mod:
    return isPlain ? "(" + a + " % " + b + ")" : "dlc_mod(" + a + ", " + b + ")";
  case AffineExprKind::FloorDiv:
    return isPlain ? "(" + a + " / " + b + ")" : "dlc_floordiv(" + a + ", " + b + ")";
  default: return "dlc_ceildiv(" + a + ", " + b + ")";
  }
}

/// The op's value in C++; empty when it has no such form.
std::string Printer::expression(Operation *op, ArrayRef<std::string> x) {
  StringRef kind = op->getName().getStringRef();
  Type type = op->getResult(0).getType();
  Type from = op->getNumOperands() ? op->getOperand(0).getType() : Type();
  std::string to = type.isIntOrIndexOrFloat() ? typeName(type) : "";
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    bool isSelf = op->getOperand(0) == op->getOperand(1);
    if (isSelf && compare.getPredicate() == arith::CmpFPredicate::UNO)
      return "(" + x[0] + " != " + x[0] + ")";
    return compareFloats(compare.getPredicate(), x[0], x[1]);
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareIntegers(compare, x[0], x[1]);
  if (StringRef function = mathFunction(kind); !function.empty()) {
    if (isNarrow(type) || !isa<FloatType>(type))
      return "";
    bool isHelper = function.starts_with("dlc_");
    std::string text = function.str() + (type.isF32() && !isHelper ? "f(" : "(");
    for (auto [i, argument] : llvm::enumerate(x))
      text += (i ? ", " : "") + argument;
    return text + ")";
  }
  auto narrowed = [&](const std::string &text) { return isNarrow(type) ? to + "_from(" + text + ")" : text; };
  auto binary = [&](const char *sign) {
    if (isNarrow(type))
      return narrowed("(to_float(" + x[0] + ")" + sign + "to_float(" + x[1] + "))");
    return "(" + x[0] + sign + x[1] + ")";
  };
  return llvm::StringSwitch<llvm::function_ref<std::string()>>(kind)
      .Case("arith.addf", [&] { return binary(" + "); })
      .Case("arith.subf", [&] { return binary(" - "); })
      .Case("arith.mulf", [&] { return binary(" * "); })
      .Case("arith.divf", [&] { return binary(" / "); })
      .Case("arith.negf", [&] {
        return isNarrow(type) ? narrowed("-to_float(" + x[0] + ")") : "(-" + x[0] + ")";
      })
      .Case("arith.addi", [&] { return wrapping(op, " + ", x); })
      .Case("arith.subi", [&] { return wrapping(op, " - ", x); })
      .Case("arith.muli", [&] { return wrapping(op, " * ", x); })
      .Case("arith.divsi", [&] { return "(" + to + ")(" + x[0] + " / " + x[1] + ")"; })
      .Case("arith.remsi", [&] { return "(" + to + ")(" + x[0] + " % " + x[1] + ")"; })
      .Case("arith.floordivsi", [&] { return "(" + to + ")dlc_floordiv((i64)" + x[0] + ", (i64)" + x[1] + ")"; })
      .Case("arith.ceildivsi", [&] { return "(" + to + ")dlc_ceildiv((i64)" + x[0] + ", (i64)" + x[1] + ")"; })
      .Case("arith.ceildivui", [&] { return "(" + to + ")dlc_ceildiv((i64)" + x[0] + ", (i64)" + x[1] + ")"; })
      .Case("arith.divui", [&] { return asUnsigned(op, " / ", x); })
      .Case("arith.remui", [&] { return asUnsigned(op, " % ", x); })
      .Case("arith.shli", [&] { return cast(to, "(" + cast(unsignedName(type), x[0]) + " << " + x[1] + ")"); })
      .Case("arith.shrsi", [&] { return "(" + to + ")(" + x[0] + " >> " + x[1] + ")"; })
      .Case("arith.shrui", [&] { return asUnsigned(op, " >> ", x); })
      .Case("arith.andi", [&] { return bitwise(op, " & ", x); })
      .Case("arith.ori", [&] { return bitwise(op, " | ", x); })
      .Case("arith.xori", [&] { return bitwise(op, " ^ ", x); })
      .Case("arith.maxsi", [&] { return "dlc_max<" + to + ">(" + x[0] + ", " + x[1] + ")"; })
      .Case("arith.minsi", [&] { return "dlc_min<" + to + ">(" + x[0] + ", " + x[1] + ")"; })
      .Case("arith.maxui", [&] {
        return cast(to, "dlc_max<" + unsignedName(type) + ">(" + x[0] + ", " + x[1] + ")");
      })
      .Case("arith.minui", [&] {
        return cast(to, "dlc_min<" + unsignedName(type) + ">(" + x[0] + ", " + x[1] + ")");
      })
      .Case("arith.select", [&] { return "(" + x[0] + " ? " + x[1] + " : " + x[2] + ")"; })
      .Case("arith.bitcast", [&] { return "dlc_bits<" + to + ">(" + x[0] + ")"; })
      .Cases({"arith.trunci", "arith.extsi", "arith.index_cast"},
             [&] { return resize(from, type, x[0], false); })
      .Cases({"arith.extui", "arith.index_castui"}, [&] { return resize(from, type, x[0], true); })
      .Case("arith.sitofp", [&] {
        std::string number = from.isInteger(1) ? "(" + x[0] + " ? -1 : 0)" : x[0];
        return isNarrow(type) ? narrowed(cast("float", number)) : cast(to, number);
      })
      .Case("arith.uitofp", [&] {
        std::string number = from.isInteger(1) ? "(" + x[0] + " ? 1 : 0)" : cast(unsignedName(from), x[0]);
        return isNarrow(type) ? narrowed(cast("float", number)) : cast(to, number);
      })
      .Case("arith.fptosi", [&] { return cast(to, isNarrow(from) ? "to_float(" + x[0] + ")" : x[0]); })
      .Case("arith.fptoui", [&] {
        return cast(to, cast(unsignedName(type), isNarrow(from) ? "to_float(" + x[0] + ")" : x[0]));
      })
      .Case("arith.extf", [&] {
        return isNarrow(from) ? (type.isF64() ? "(double)" : "") + ("to_float(" + x[0] + ")")
                              : cast(to, x[0]);
      })
      .Case("arith.truncf", [&] { return narrowed(cast(isNarrow(type) && from.isF64() ? "double" : isNarrow(type) ? "float" : to, x[0])); })
      .Case("math.absi", [&] { return "dlc_abs(" + x[0] + ")"; })
      .Default([] { return std::string(); })();
}

/// Operands of affine ops may be negative, which affineText takes symbols for.
static SmallVector<std::string> signedOperands(ArrayRef<std::string> symbols) {
  SmallVector<std::string> result(symbols);
  result.push_back("");
  return result;
}

LogicalResult Printer::printScalar(Operation *op) {
  if (auto wide = dyn_cast<arith::MulUIExtendedOp>(op)) {
    Type type = wide.getLow().getType();
    if (!type.isInteger(32))
      return op->emitError("cannot be printed as CUDA: a product wider than 64 bits");
    std::string product = fresh("p");
    line("const u64 " + product + " = (u64)(u32)" + name(wide.getLhs()) + " * (u32)" +
         name(wide.getRhs()) + ";");
    declare(wide.getLow(), "(i32)" + product);
    declare(wide.getHigh(), "(i32)(" + product + " >> 32)");
    return success();
  }
  SmallVector<std::string> x;
  for (Value operand : op->getOperands())
    x.push_back(name(operand));
  std::string text;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    text = affineText(map.getResult(0), ArrayRef(x).take_front(map.getNumDims()),
                      signedOperands(ArrayRef(x).drop_front(map.getNumDims())));
  } else if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    bool isMin = isa<affine::AffineMinOp>(op);
    AffineMap map = isMin ? cast<affine::AffineMinOp>(op).getMap() : cast<affine::AffineMaxOp>(op).getMap();
    for (AffineExpr result : map.getResults()) {
      std::string one = affineText(result, ArrayRef(x).take_front(map.getNumDims()),
                                   signedOperands(ArrayRef(x).drop_front(map.getNumDims())));
      text = text.empty() ? one : std::string(isMin ? "dlc_min" : "dlc_max") + "<i64>(" + text + ", " + one + ")";
    }
  } else if (op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndexOrFloat()) {
    text = expression(op, x);
  }
  if (text.empty())
    return op->emitError("cannot be printed as CUDA: ") << op->getName();
  declare(op->getResult(0), text);
  return success();
}

} // namespace dlc::cuda
