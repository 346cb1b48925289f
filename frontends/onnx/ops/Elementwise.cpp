// ONNX ops that are one elementwise dl op, or a few.

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

template <typename Op> LogicalResult unary(NodeContext &c) {
  if (c.numInputs() != 1 || !c.input(0))
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 1");
  return c.done(c.make<Op>(c.input(0)));
}

/// Attributes of opset 6 and older that change nothing here.
void ignoreOld(NodeContext &c) {
  if (c.opset < 7)
    for (const char *name : {"axis", "broadcast", "consumed_inputs"})
      c.ignoreAttr(name);
}

/// Opset 6 and older broadcast by attribute: the second operand's axes start at
/// `axis` of the first.
Value alignOld(NodeContext &c, Value x, Value y) {
  if (c.opset >= 7 || !c.intAttr("broadcast", 0) || !c.has("axis"))
    return y;
  SmallVector<int64_t> shape(c.type(y).getShape());
  auto axis = c.normalizeAxis(c.intAttr("axis", 0), c.rank(x));
  if (failed(axis))
    return {};
  while (*axis + int64_t(shape.size()) < c.rank(x))
    shape.push_back(1);
  return c.reshape(y, shape);
}

/// Integers as 0 - x, which shape arithmetic can follow.
LogicalResult negate(NodeContext &c) {
  if (!c.hasInput(0) || c.isFloat(c.input(0)))
    return unary<dl::NegOp>(c);
  return c.done(c.make<dl::SubOp>(c.intScalar(c.element(c.input(0)), 0), c.input(0)));
}

LogicalResult checkPair(NodeContext &c) {
  ignoreOld(c);
  if (c.numInputs() != 2 || !c.input(0) || !c.input(1))
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 2");
  Type x = c.element(c.input(0)), y = c.element(c.input(1));
  if (x == y)
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << "operands have the element types " << x << " and " << y;
  return c.invalid(text);
}

template <typename Op> LogicalResult binary(NodeContext &c) {
  if (failed(checkPair(c)))
    return failure();
  return c.done(c.make<Op>(c.input(0), alignOld(c, c.input(0), c.input(1))));
}

template <dl::Comparison predicate> LogicalResult compare(NodeContext &c) {
  if (failed(checkPair(c)))
    return failure();
  return c.done(c.make<dl::CompareOp>(
      c.input(0), alignOld(c, c.input(0), c.input(1)),
      dl::ComparisonAttr::get(c.b.getContext(), predicate)));
}

/// Max, Min, Sum, Mean of any number of operands.
template <typename Op> Value foldInputs(NodeContext &c) {
  Value result = c.input(0);
  for (size_t i = 1; i < c.numInputs(); ++i)
    result = c.make<Op>(result, c.input(i));
  return result;
}
template <typename Op> LogicalResult variadic(NodeContext &c) {
  if (c.numInputs() == 0)
    return c.invalid("has no inputs");
  return c.done(foldInputs<Op>(c));
}
LogicalResult mean(NodeContext &c) {
  if (c.numInputs() == 0)
    return c.invalid("has no inputs");
  Value sum = foldInputs<dl::AddOp>(c);
  if (!sum)
    return failure();
  return c.done(c.make<dl::DivOp>(sum, c.scalar(c.element(sum), c.numInputs())));
}

LogicalResult pow(NodeContext &c) {
  if (c.numInputs() != 2)
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 2");
  Value x = c.input(0), y = c.input(1);
  Type element = c.element(x);
  if (isa<FloatType>(element))
    return c.done(c.make<dl::PowOp>(x, c.cast(y, element)));
  // Integer bases: exact for what f64 holds, as numpy's result after the cast.
  Type wide = c.b.getF64Type();
  if (isa<IntegerType>(c.element(y)))
    return c.done(c.make<dl::PowOp>(x, c.cast(y, element)));
  return c.done(c.cast(c.make<dl::PowOp>(c.cast(x, wide), c.cast(y, wide)), element));
}

LogicalResult mod(NodeContext &c) {
  if (failed(checkPair(c)))
    return failure();
  if (c.intAttr("fmod", 0))
    return c.done(c.make<dl::RemOp>(c.input(0), c.input(1)));
  return c.done(c.make<dl::ModOp>(c.input(0), c.input(1)));
}

LogicalResult bitShift(NodeContext &c) {
  if (failed(checkPair(c)))
    return failure();
  std::string direction = c.stringAttr("direction", "");
  if (direction == "LEFT")
    return c.done(c.make<dl::ShiftLeftOp>(c.input(0), c.input(1)));
  if (direction == "RIGHT")
    return c.done(c.make<dl::ShiftRightOp>(c.input(0), c.input(1)));
  return c.invalid("direction '" + Twine(direction) + "' is neither LEFT nor RIGHT");
}

LogicalResult where(NodeContext &c) {
  if (c.numInputs() != 3)
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 3");
  return c.done(c.make<dl::SelectOp>(c.input(0), c.input(1), c.input(2)));
}

LogicalResult isInf(NodeContext &c) {
  Value x = c.input(0);
  if (!x || !c.isFloat(x))
    return c.invalid("takes one float tensor");
  double inf = std::numeric_limits<double>::infinity();
  auto equals = [&](double value) {
    return c.make<dl::CompareOp>(x, c.scalar(c.element(x), value),
                                 dl::ComparisonAttr::get(c.b.getContext(), dl::Comparison::eq));
  };
  bool positive = c.intAttr("detect_positive", 1), negative = c.intAttr("detect_negative", 1);
  Value result = equals(positive ? inf : -inf);
  if (positive && negative)
    result = c.make<dl::OrOp>(result, equals(-inf));
  if (!positive && !negative)
    result = c.make<dl::XorOp>(result, result);
  return c.done(result);
}

LogicalResult reciprocal(NodeContext &c) {
  if (c.numInputs() != 1)
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 1");
  return c.done(c.make<dl::DivOp>(c.scalar(c.element(c.input(0)), 1), c.input(0)));
}

} // namespace

void addElementwise(Registry &r) {
  r["Abs"] = unary<dl::AbsOp>;
  r["Acos"] = unary<dl::AcosOp>;
  r["Acosh"] = unary<dl::AcoshOp>;
  r["Add"] = binary<dl::AddOp>;
  r["And"] = binary<dl::AndOp>;
  r["Asin"] = unary<dl::AsinOp>;
  r["Asinh"] = unary<dl::AsinhOp>;
  r["Atan"] = unary<dl::AtanOp>;
  r["Atanh"] = unary<dl::AtanhOp>;
  r["BitShift"] = bitShift;
  r["BitwiseAnd"] = binary<dl::AndOp>;
  r["BitwiseNot"] = unary<dl::NotOp>;
  r["BitwiseOr"] = binary<dl::OrOp>;
  r["BitwiseXor"] = binary<dl::XorOp>;
  r["Ceil"] = unary<dl::CeilOp>;
  r["Cos"] = unary<dl::CosOp>;
  r["Cosh"] = unary<dl::CoshOp>;
  r["Div"] = binary<dl::DivOp>;
  r["Equal"] = compare<dl::Comparison::eq>;
  r["Erf"] = unary<dl::ErfOp>;
  r["Exp"] = unary<dl::ExpOp>;
  r["Floor"] = unary<dl::FloorOp>;
  r["Greater"] = compare<dl::Comparison::gt>;
  r["GreaterOrEqual"] = compare<dl::Comparison::ge>;
  r["IsInf"] = isInf;
  r["IsNaN"] = unary<dl::IsNanOp>;
  r["Less"] = compare<dl::Comparison::lt>;
  r["LessOrEqual"] = compare<dl::Comparison::le>;
  r["Log"] = unary<dl::LogOp>;
  r["Max"] = variadic<dl::MaxOp>;
  r["Mean"] = mean;
  r["Min"] = variadic<dl::MinOp>;
  r["Mod"] = mod;
  r["Mul"] = binary<dl::MulOp>;
  r["Neg"] = negate;
  r["Not"] = unary<dl::NotOp>;
  r["Or"] = binary<dl::OrOp>;
  r["Pow"] = pow;
  r["Reciprocal"] = reciprocal;
  r["Round"] = unary<dl::RoundOp>;
  r["Sign"] = unary<dl::SignOp>;
  r["Sin"] = unary<dl::SinOp>;
  r["Sinh"] = unary<dl::SinhOp>;
  r["Sqrt"] = unary<dl::SqrtOp>;
  r["Sub"] = binary<dl::SubOp>;
  r["Sum"] = variadic<dl::AddOp>;
  r["Tan"] = unary<dl::TanOp>;
  r["Tanh"] = unary<dl::TanhOp>;
  r["Where"] = where;
  r["Xor"] = binary<dl::XorOp>;
}

} // namespace dlc::onnx
