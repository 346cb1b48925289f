#include "compiler/targets/cpu/contraction/RowMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace dlc::cpu {

Value RowMath::constant(double value) {
  return arith::ConstantOp::create(m.b, m.loc, m.b.getF32FloatAttr(value));
}
Value RowMath::add(Value x, Value y) { return arith::AddFOp::create(m.b, m.loc, x, y); }
Value RowMath::subtract(Value x, Value y) { return arith::SubFOp::create(m.b, m.loc, x, y); }
Value RowMath::multiply(Value x, Value y) { return arith::MulFOp::create(m.b, m.loc, x, y); }
Value RowMath::divide(Value x, Value y) { return arith::DivFOp::create(m.b, m.loc, x, y); }
Value RowMath::maximum(Value x, Value y) { return arith::MaximumFOp::create(m.b, m.loc, x, y); }
Value RowMath::isEqual(Value x, Value y) {
  return arith::CmpFOp::create(m.b, m.loc, arith::CmpFPredicate::OEQ, x, y);
}
Value RowMath::fma(Value x, Value y, Value z) { return m.fma(x, y, z); }

Value RowMath::expNonPositive(Value x) {
  // n = x / ln 2, rounded by a number whose last mantissa bit counts ones; its
  // low bits are then n itself. e^x = 2^n * e^r, |r| <= ln 2 / 2.
  Value rounder = splat(12582912.0);
  Value shifted = fma(x, splat(1.44269504088896341), rounder);
  Value n = subtract(shifted, rounder);
  Value r = fma(n, splat(2.12194440e-4), fma(n, splat(-0.693359375), x));
  Value p = splat(1.9875691500e-4);
  for (double c : {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
                   5.0000001201e-1, 1.0, 1.0})
    p = fma(p, r, splat(c));
  auto bits = VectorType::get({m.lanes}, m.b.getI32Type());
  auto integer = [&](int32_t v) -> Value {
    auto value = DenseElementsAttr::get(bits, Attribute(m.b.getI32IntegerAttr(v)));
    return arith::ConstantOp::create(m.b, m.loc, value);
  };
  Value exponent = arith::ShLIOp::create(
      m.b, m.loc, arith::BitcastOp::create(m.b, m.loc, bits, shifted), integer(23));
  exponent = arith::AddIOp::create(m.b, m.loc, exponent, integer(127 << 23));
  Value power = arith::BitcastOp::create(m.b, m.loc, x.getType(), exponent);
  // NaN is not below, and stays NaN in the product.
  Value isTiny = arith::CmpFOp::create(m.b, m.loc, arith::CmpFPredicate::OLT, x, splat(-87.3));
  return m.select(isTiny, m.zeros(), multiply(p, power));
}

Value RowMath::tanh(Value x) { return math::TanhOp::create(m.b, m.loc, x); }

Value RowMath::firstLane(Value vector) {
  return vector::ExtractOp::create(m.b, m.loc, vector, ArrayRef<int64_t>{0});
}
Value RowMath::reduceAdd(Value vector) {
  // Pairs of halves: the order is ours to define, and this one is short.
  return vector::ReductionOp::create(m.b, m.loc, vector::CombiningKind::ADD, vector,
                                     arith::FastMathFlags::reassoc);
}
Value RowMath::reduceMaximum(Value vector) {
  return vector::ReductionOp::create(m.b, m.loc, vector::CombiningKind::MAXIMUMF, vector);
}

void RowMath::storeScalar(Value x, Value address) {
  LLVM::StoreOp::create(m.b, m.loc, x, address);
}

Value RowMath::loadFlags(Value address, Value active) {
  auto type = VectorType::get({m.lanes}, m.b.getI8Type());
  Value zero = arith::ConstantOp::create(m.b, m.loc, m.b.getZeroAttr(type));
  Value bytes;
  if (active)
    bytes = LLVM::MaskedLoadOp::create(m.b, m.loc, type, address, active, zero, /*alignment=*/1);
  else
    bytes = LLVM::LoadOp::create(m.b, m.loc, type, address, /*alignment=*/1);
  return arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::ne, bytes, zero);
}

Value RowMath::loadFlag(Value address) {
  Value byte = LLVM::LoadOp::create(m.b, m.loc, m.b.getI8Type(), address);
  Value zero = arith::ConstantOp::create(m.b, m.loc, m.b.getI8IntegerAttr(0));
  return arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::ne, byte, zero);
}

} // namespace dlc::cpu
