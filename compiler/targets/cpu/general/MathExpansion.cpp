// e^x by a polynomial that vectorises and is exact at the ends: denormal
// results are rounded once, -inf gives 0, +inf gives inf, NaN stays. About 1.3
// ulp. Algorithm: Cephes' expf (range reduction by ln 2 in two parts, degree 6).

#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &b) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return b.notifyMatchFailure(op, "not f32");
    Location loc = op.getLoc();
    Type intType = b.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      intType = vector.clone(intType);
    auto constant = [&](double value) -> Value {
      TypedAttr attr = b.getF32FloatAttr(value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(b, loc, attr);
    };
    auto integer = [&](int32_t value) -> Value {
      TypedAttr attr = b.getI32IntegerAttr(value);
      if (auto vector = dyn_cast<VectorType>(intType))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(b, loc, attr);
    };
    auto fma = [&](Value x, Value y, Value z) -> Value {
      return math::FmaOp::create(b, loc, x, y, z);
    };
    Value x = op.getOperand();
    auto clamp = [&](arith::CmpFPredicate keep, Value value, double bound) -> Value {
      Value limit = constant(bound);
      Value ok = arith::CmpFOp::create(b, loc, keep, value, limit);
      return arith::SelectOp::create(b, loc, ok, value, limit);
    };
    // NaN fails both comparisons, so the conversion below never sees it.
    Value clamped = clamp(arith::CmpFPredicate::OGT, x, -105.0);
    clamped = clamp(arith::CmpFPredicate::OLT, clamped, 89.0);
    Value n = math::RoundEvenOp::create(
        b, loc, arith::MulFOp::create(b, loc, clamped, constant(1.44269504088896341)));
    Value r = fma(n, constant(-0.693359375), clamped);
    r = fma(n, constant(2.12194440e-4), r);
    Value p = constant(1.9875691500e-4);
    for (double c : {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                     1.6666665459e-1, 5.0000001201e-1})
      p = fma(p, r, constant(c));
    p = fma(p, arith::MulFOp::create(b, loc, r, r),
            arith::AddFOp::create(b, loc, r, constant(1.0)));
    // 2^n in two factors, since n reaches below the normal exponents.
    Value whole = arith::FPToSIOp::create(b, loc, intType, n);
    Value half = arith::ShRSIOp::create(b, loc, whole, integer(1));
    Value other = arith::SubIOp::create(b, loc, whole, half);
    auto power = [&](Value exponent) -> Value {
      Value biased = arith::AddIOp::create(b, loc, exponent, integer(127));
      Value bits = arith::ShLIOp::create(b, loc, biased, integer(23));
      return arith::BitcastOp::create(b, loc, type, bits);
    };
    Value result = arith::MulFOp::create(b, loc, p, power(half));
    result = arith::MulFOp::create(b, loc, result, power(other));
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    b.replaceOpWithNewOp<arith::SelectOp>(op, isNan, x, result);
    return success();
  }
};

/// x^2 -> x * x, x^3 -> x * x * x: no call of the library for every element.
struct ExpandSmallPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &b) const override {
    FloatAttr exponent;
    DenseFPElementsAttr splat;
    if (matchPattern(op.getRhs(), m_Constant(&splat)) && splat.isSplat())
      exponent = splat.getSplatValue<FloatAttr>();
    else if (!matchPattern(op.getRhs(), m_Constant(&exponent)))
      return b.notifyMatchFailure(op, "the exponent is no constant");
    double value = exponent.getValueAsDouble();
    if (value != 2 && value != 3)
      return b.notifyMatchFailure(op, "the exponent is not 2 or 3");
    Value x = op.getLhs(), result = arith::MulFOp::create(b, op.getLoc(), x, x);
    if (value == 3)
      result = arith::MulFOp::create(b, op.getLoc(), result, x);
    b.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateMathExpansion(RewritePatternSet &patterns) {
  patterns.add<ExpandExp, ExpandSmallPower>(patterns.getContext());
  // MLIR's approximations of tanh and erf saturate right and keep NaN.
  populatePolynomialApproximateTanhPattern(patterns);
  populatePolynomialApproximateErfPattern(patterns);
}

} // namespace dlc::cpu
