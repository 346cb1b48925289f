// The scalar arithmetic behind elementwise ops.

#include "dialects/dl/ScalarMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace dlc::dl {

Type elementOf(Value tensor) { return getElementTypeOrSelf(tensor); }

bool isUnsignedOperand(Operation *op) {
  if (op->getNumOperands() == 0)
    return false;
  Type element = elementOf(op->getOperand(op->getNumOperands() > 2 ? 1 : 0));
  return element.isUnsignedInteger() || element.isInteger(1);
}

namespace {

bool isFloat(Value x) { return isa<FloatType>(getElementTypeOrSelf(x)); }

Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

} // namespace

Value ScalarMath::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = b.getFloatAttr(element, value);
  else
    attr = b.getIntegerAttr(element, int64_t(value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value ScalarMath::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  APInt bits(element.getIntOrFloatBitWidth(), uint64_t(value), true, true);
  TypedAttr attr = b.getIntegerAttr(element, bits);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value ScalarMath::add(Value x, Value y) {
  if (isFloat(x))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value ScalarMath::subtract(Value x, Value y) {
  if (isFloat(x))
    return arith::SubFOp::create(b, loc, x, y);
  return arith::SubIOp::create(b, loc, x, y);
}

Value ScalarMath::multiply(Value x, Value y) {
  if (isFloat(x))
    return arith::MulFOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

Value ScalarMath::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

// The processor traps on y = 0 and on MIN / -1: neither reaches it.
Value ScalarMath::divide(Value x, Value y) {
  if (isFloat(x))
    return arith::DivFOp::create(b, loc, x, y);
  Value zero = integer(x.getType(), 0), one = integer(x.getType(), 1);
  Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  if (isUnsigned) {
    Value safe = select(isZero, one, y);
    return select(isZero, zero, arith::DivUIOp::create(b, loc, x, safe));
  }
  Value minusOne = integer(x.getType(), -1);
  Value isMinusOne =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, minusOne);
  Value special = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  Value quotient = arith::DivSIOp::create(b, loc, x, select(special, one, y));
  return select(isZero, zero,
                select(isMinusOne, subtract(zero, x), quotient));
}

Value ScalarMath::remainder(Value x, Value y) {
  if (isFloat(x))
    return arith::RemFOp::create(b, loc, x, y);
  Value product = multiply(divide(x, y), y);
  Value zero = integer(x.getType(), 0);
  Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  return select(isZero, zero, subtract(x, product));
}

// rem(x, y), moved by y when the signs of remainder and divisor differ.
Value ScalarMath::modulo(Value x, Value y) {
  Value rem = remainder(x, y);
  if (isUnsigned && !isFloat(x))
    return rem;
  Value zero = constant(x.getType(), 0);
  Value remNegative = compare(Comparison::lt, rem, zero);
  Value yNegative = compare(Comparison::lt, y, zero);
  Value differ = arith::XOrIOp::create(b, loc, remNegative, yNegative);
  Value isZero = compare(Comparison::eq, rem, zero);
  Value keep = arith::OrIOp::create(
      b, loc, isZero, compare(Comparison::eq, differ, constant(differ.getType(), 0)));
  return select(keep, rem, add(rem, y));
}

Value ScalarMath::minimum(Value x, Value y) {
  if (isFloat(x))
    return arith::MinimumFOp::create(b, loc, x, y);
  if (isUnsigned)
    return arith::MinUIOp::create(b, loc, x, y);
  return arith::MinSIOp::create(b, loc, x, y);
}

Value ScalarMath::maximum(Value x, Value y) {
  if (isFloat(x))
    return arith::MaximumFOp::create(b, loc, x, y);
  if (isUnsigned)
    return arith::MaxUIOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value ScalarMath::power(Value x, Value y) {
  if (isFloat(x))
    return math::PowFOp::create(b, loc, x, y);
  // Square and multiply, one step per bit of the exponent; wraps like multiplication.
  Value one = integer(x.getType(), 1), zero = integer(x.getType(), 0), result = one, square = x;
  int64_t bits = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  for (int64_t bit = 0; bit < bits; ++bit) {
    Value mask = arith::AndIOp::create(b, loc, y, integer(y.getType(), int64_t(uint64_t(1) << bit)));
    Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, mask, integer(y.getType(), 0));
    result = select(isSet, multiply(result, square), result);
    square = multiply(square, square);
  }
  if (isUnsigned)
    return result;
  // A negative exponent leaves a fraction, truncated, except of 1 and -1.
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y, integer(y.getType(), 0));
  Value isUnit = arith::OrIOp::create(
      b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, one),
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, integer(x.getType(), -1)));
  Value isOdd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                      arith::AndIOp::create(b, loc, y, integer(y.getType(), 1)),
                                      integer(y.getType(), 0));
  Value fraction = select(isUnit, select(isOdd, x, one), zero);
  return select(isNegative, fraction, result);
}

Value ScalarMath::shift(Value x, Value y, bool left) {
  int64_t bits = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  Value width = integer(x.getType(), bits);
  Value tooFar =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, y, width);
  if (!left && !isUnsigned) // the sign fills up
    return arith::ShRSIOp::create(b, loc, x, select(tooFar, integer(x.getType(), bits - 1), y));
  Value zero = integer(x.getType(), 0);
  Value safe = select(tooFar, zero, y);
  Value shifted = left ? Value(arith::ShLIOp::create(b, loc, x, safe))
                       : Value(arith::ShRUIOp::create(b, loc, x, safe));
  return select(tooFar, zero, shifted);
}

Value ScalarMath::compare(Comparison predicate, Value x, Value y) {
  int which = int(predicate);
  if (isFloat(x)) {
    using P = arith::CmpFPredicate;
    constexpr P table[] = {P::OEQ, P::OLT, P::OLE, P::OGT, P::OGE};
    return arith::CmpFOp::create(b, loc, table[which], x, y);
  }
  using P = arith::CmpIPredicate;
  constexpr P signedTable[] = {P::eq, P::slt, P::sle, P::sgt, P::sge};
  constexpr P unsignedTable[] = {P::eq, P::ult, P::ule, P::ugt, P::uge};
  return arith::CmpIOp::create(
      b, loc, (isUnsigned ? unsignedTable : signedTable)[which], x, y);
}

Value ScalarMath::abs(Value x) {
  if (isFloat(x))
    return math::AbsFOp::create(b, loc, x);
  return isUnsigned ? x : Value(math::AbsIOp::create(b, loc, x));
}

Value ScalarMath::negate(Value x) {
  if (isFloat(x))
    return arith::NegFOp::create(b, loc, x);
  return subtract(integer(x.getType(), 0), x);
}

Value ScalarMath::sign(Value x) {
  Value zero = constant(x.getType(), 0), one = constant(x.getType(), 1);
  Value positive = select(compare(Comparison::gt, x, zero), one, zero);
  if (isUnsigned && !isFloat(x))
    return positive;
  Value result = select(compare(Comparison::lt, x, zero),
                        constant(x.getType(), -1), positive);
  if (!isFloat(x))
    return result;
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return select(isNan, x, result);
}

// x >= 0 ? x : 0 is one max instruction; NaN compares unordered and is kept.
Value ScalarMath::relu(Value x) {
  Value zero = constant(x.getType(), 0);
  if (!isFloat(x))
    return maximum(x, zero);
  Value keep = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, x, zero);
  return select(keep, x, zero);
}

Value ScalarMath::sigmoid(Value x) {
  Value one = constant(x.getType(), 1);
  Value e = math::ExpOp::create(b, loc, negate(x));
  return divide(one, add(one, e));
}

Value ScalarMath::invert(Value x) {
  return arith::XOrIOp::create(b, loc, x, integer(x.getType(), -1));
}

Value ScalarMath::toInteger(Value x, Type to, bool toUnsigned) {
  // Saturate in float first: an out-of-range conversion is poison.
  unsigned width = to.getIntOrFloatBitWidth();
  double lower = toUnsigned ? 0.0 : -std::ldexp(1.0, width - 1);
  double bound = std::ldexp(1.0, toUnsigned ? width : width - 1);
  Type type = withElement(x.getType(), to);
  Value low = constant(x.getType(), lower), high = constant(x.getType(), bound);
  Value tooLow = compare(Comparison::lt, x, low);
  Value tooHigh = compare(Comparison::ge, x, high);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value outside = arith::OrIOp::create(
      b, loc, isNan, arith::OrIOp::create(b, loc, tooLow, tooHigh));
  Value safe = select(outside, constant(x.getType(), 0), x);
  Value converted = toUnsigned ? Value(arith::FPToUIOp::create(b, loc, type, safe))
                               : Value(arith::FPToSIOp::create(b, loc, type, safe));
  int64_t min = toUnsigned ? 0 : int64_t(uint64_t(1) << (width - 1));
  int64_t max = toUnsigned ? -1 : int64_t((uint64_t(1) << (width - 1)) - 1);
  if (!toUnsigned && width < 64)
    min = -(int64_t(1) << (width - 1));
  converted = select(tooLow, integer(type, min), converted);
  return select(tooHigh, integer(type, max), converted);
}

// 8-bit and 16-bit floats are computed in f32; the store rounds.
Value ScalarMath::narrowFloat(Value x, Type to) {
  Type type = withElement(x.getType(), to);
  unsigned from = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  if (from > to.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(b, loc, type, x);
  if (from < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, x);
  return x;
}

Value ScalarMath::cast(Value x, Type from, Type to) {
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (to.isInteger(1)) {
    Value zero = constant(x.getType(), 0);
    if (!isFloat(x))
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero);
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, zero);
  }
  if (isa<FloatType>(to)) {
    Type compute = to.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : to;
    if (isFloat(x))
      return narrowFloat(x, compute);
    Type type = withElement(x.getType(), compute);
    if (fromUnsigned)
      return arith::UIToFPOp::create(b, loc, type, x);
    return arith::SIToFPOp::create(b, loc, type, x);
  }
  Type target = IntegerType::get(b.getContext(), to.getIntOrFloatBitWidth());
  if (isFloat(x))
    return toInteger(x, target, to.isUnsignedInteger());
  Type type = withElement(x.getType(), target);
  unsigned width = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  if (width > target.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, type, x);
  if (width == target.getIntOrFloatBitWidth())
    return x;
  if (fromUnsigned)
    return arith::ExtUIOp::create(b, loc, type, x);
  return arith::ExtSIOp::create(b, loc, type, x);
}

} // namespace dlc::dl
