// Proofs and quotients of symbolic sizes.

#include "dialects/dl/SizeMath.h"

#include "dialects/dl/Dl.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace dlc::dl {

bool isNonNegative(AffineExpr expr) {
  if (auto size = constantSize(expr))
    return *size >= 0;
  if (isa<AffineSymbolExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Mod) // By a positive modulus.
    return true;
  return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
}

AffineExpr collectTerms(AffineExpr expr) {
  unsigned numSymbols = 0;
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
  });
  return simplifyAffineExpr(expr, 0, numSymbols);
}

namespace {

/// Splits a product into its constant and its other factors.
void collectFactors(AffineExpr expr, int64_t &constant,
                    SmallVectorImpl<AffineExpr> &factors) {
  if (auto size = constantSize(expr)) {
    if (llvm::MulOverflow(constant, *size, constant))
      factors.push_back(expr), constant = 1;
  } else if (expr.getKind() == AffineExprKind::Mul) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    collectFactors(binary.getLHS(), constant, factors);
    collectFactors(binary.getRHS(), constant, factors);
  } else {
    factors.push_back(expr);
  }
}

} // namespace

AffineExpr quotient(ArrayRef<AffineExpr> numerator, ArrayRef<AffineExpr> denominator,
                    MLIRContext *context, bool *isExact) {
  int64_t top = 1, bottom = 1;
  SmallVector<AffineExpr> tops, bottoms, rest;
  for (AffineExpr expr : numerator)
    collectFactors(expr, top, tops);
  for (AffineExpr expr : denominator)
    collectFactors(expr, bottom, bottoms);
  for (AffineExpr factor : bottoms) {
    auto *same = llvm::find(tops, factor);
    if (same != tops.end())
      tops.erase(same);
    else
      rest.push_back(factor);
  }
  if (int64_t common = std::gcd(top, bottom)) {
    top /= common;
    bottom /= common;
  }
  if (isExact)
    *isExact = bottom == 1 && rest.empty();
  AffineExpr result = product(tops, context) * top;
  AffineExpr divisor = product(rest, context) * bottom;
  if (constantSize(divisor) == 0)
    return getAffineConstantExpr(0, context);
  return result.floorDiv(divisor);
}

// For sizes that are not negative: size >= bound iff floor(bound / (size + 1)) is 0.
LogicalResult demandAtLeast(InferContext &c, AffineExpr size, AffineExpr bound,
                            const Twine &what) {
  auto least = constantSize(bound), known = constantSize(size);
  if (known && least) {
    if (*known >= *least)
      return success();
    return c.error() << what << ": " << *known << " is less than " << *least;
  }
  if (isNonNegative(collectTerms(size - bound)))
    return success();
  return c.equal(bound.floorDiv(size + 1), c.constant(0), what);
}

std::optional<int64_t> trackableCount(ArrayRef<AffineExpr> dims) {
  int64_t count = 1;
  for (AffineExpr dim : dims) {
    auto size = constantSize(dim);
    if (!size || *size < 0 || (count *= *size) > kMaxTrackedElements)
      return std::nullopt;
  }
  return count;
}

std::optional<SmallVector<AffineExpr>> trackedElements(const TensorInfo &info) {
  auto count = trackableCount(info.dims);
  if (!count || !isa<IntegerType>(info.element))
    return std::nullopt;
  if (info.contents && int64_t(info.contents->size()) == *count)
    return info.contents;
  return SmallVector<AffineExpr>(*count);
}

FailureOr<int64_t> shapeOperandLength(InferContext &c, const TensorInfo &info,
                                      StringRef name) {
  if (info.rank() == 1 && info.element.isInteger(64))
    if (auto length = constantSize(info.dims[0]))
      return *length;
  c.error() << name << " must be an i64 vector of static length";
  return failure();
}

std::optional<SmallVector<int64_t>> constantElements(Value tensor) {
  DenseElementsAttr elements;
  if (!isa<IntegerType>(cast<RankedTensorType>(tensor.getType()).getElementType()) ||
      !matchPattern(tensor, m_Constant(&elements)) ||
      elements.getNumElements() > kMaxTrackedElements)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const APInt &element : elements.getValues<APInt>())
    values.push_back(element.getSExtValue());
  return values;
}

LogicalResult demandIndices(InferContext &c, const TensorInfo &indices, AffineExpr size) {
  int64_t least = 0;
  for (AffineExpr index : indices.contents.value_or(SmallVector<AffineExpr>()))
    if (auto value = index ? constantSize(index) : std::nullopt) {
      if (*value == INT64_MIN || *value == INT64_MAX)
        return c.error() << "index " << *value << " is out of range";
      least = std::max(least, *value < 0 ? -*value : *value + 1);
    }
  return demandAtLeast(c, size, c.constant(least), "size of the indexed axis");
}

FailureOr<int64_t> resolveAxis(InferContext &c, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    c.error() << "axis " << axis << " is out of range for rank " << rank;
    return failure();
  }
  return axis < 0 ? axis + rank : axis;
}

} // namespace dlc::dl
