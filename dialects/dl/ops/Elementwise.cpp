// What elementwise ops add to their one-line definitions: result types that
// differ from the operands', and arithmetic on sizes.

#include "dialects/dl/ops/Elementwise.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ScalarMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Elementwise.cpp.inc"

namespace dlc::dl {

void registerElementwiseOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Elementwise.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

namespace {

Type boolType(InferContext &c) { return IntegerType::get(c.context(), 1); }

/// inferElementwise, then another element type.
LogicalResult inferWithElement(Operation *op, InferContext &c, Type element) {
  if (failed(inferElementwise(op, c)))
    return failure();
  c.results.back().element = element;
  return success();
}

} // namespace

LogicalResult CompareOp::inferTypes(InferContext &c) {
  return inferWithElement(*this, c, boolType(c));
}

LogicalResult IsNanOp::inferTypes(InferContext &c) {
  return inferWithElement(*this, c, boolType(c));
}

LogicalResult CastOp::inferTypes(InferContext &c) {
  return inferWithElement(*this, c, getTo());
}

LogicalResult SelectOp::inferTypes(InferContext &c) {
  TensorInfo condition = c.of(getCondition());
  TensorInfo x = c.of(getOnTrue()), y = c.of(getOnFalse());
  if (!condition.element.isInteger(1))
    return c.error() << "condition has the element type " << condition.element
                     << ", expects i1";
  if (x.element != y.element)
    return c.error() << "chooses between the element types " << x.element
                     << " and " << y.element;
  auto dims = c.broadcast({condition.dims, x.dims, y.dims});
  if (failed(dims))
    return failure();
  std::optional<SmallVector<AffineExpr>> contents;
  if (condition.contents && x.contents && y.contents &&
      condition.contents->size() == x.contents->size() &&
      x.contents->size() == y.contents->size()) {
    contents.emplace();
    for (size_t i = 0; i < x.contents->size(); ++i)
      contents->push_back(buildDim(
          {(*condition.contents)[i], (*x.contents)[i], (*y.contents)[i]}));
  }
  c.addResult(*dims, x.element, std::move(contents));
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic on sizes
//===----------------------------------------------------------------------===//

AffineExpr AddOp::buildDim(ArrayRef<AffineExpr> x) { return x[0] + x[1]; }
AffineExpr SubOp::buildDim(ArrayRef<AffineExpr> x) { return x[0] - x[1]; }
AffineExpr MulOp::buildDim(ArrayRef<AffineExpr> x) { return x[0] * x[1]; }
AffineExpr CastOp::buildDim(ArrayRef<AffineExpr> x) {
  return isa<IntegerType>(getTo()) && !getTo().isInteger(1) ? x[0]
                                                            : AffineExpr();
}

// Sizes are not negative, so floor and truncation agree unless both are known.
AffineExpr DivOp::buildDim(ArrayRef<AffineExpr> x) {
  auto a = constantSize(x[0]), b = constantSize(x[1]);
  if (!b || *b == 0)
    return {};
  if (a)
    return getAffineConstantExpr(*b == -1 ? -*a : *a / *b, getContext());
  return *b > 0 ? x[0].floorDiv(x[1]) : AffineExpr();
}

AffineExpr ModOp::buildDim(ArrayRef<AffineExpr> x) {
  auto b = constantSize(x[1]);
  return b && *b > 0 ? x[0] % x[1] : AffineExpr();
}

AffineExpr MinOp::buildDim(ArrayRef<AffineExpr> x) {
  auto a = constantSize(x[0]), b = constantSize(x[1]);
  if (a && b)
    return *a < *b ? x[0] : x[1];
  return x[0] == x[1] ? x[0] : AffineExpr();
}

AffineExpr MaxOp::buildDim(ArrayRef<AffineExpr> x) {
  auto a = constantSize(x[0]), b = constantSize(x[1]);
  if (a && b)
    return *a > *b ? x[0] : x[1];
  return x[0] == x[1] ? x[0] : AffineExpr();
}

AffineExpr CompareOp::buildDim(ArrayRef<AffineExpr> x) {
  auto a = constantSize(x[0]), b = constantSize(x[1]);
  bool holds;
  if (a && b) {
    const bool table[] = {*a == *b, *a < *b, *a <= *b, *a > *b, *a >= *b};
    holds = table[int(getPredicate())];
  } else if (getPredicate() == Comparison::eq && (b ? *b < 0 : a && *a < 0)) {
    holds = false; // A size is never negative.
  } else {
    return {};
  }
  return getAffineConstantExpr(holds, getContext());
}

AffineExpr SelectOp::buildDim(ArrayRef<AffineExpr> x) {
  auto condition = constantSize(x[0]);
  if (!condition)
    return x[1] == x[2] ? x[1] : AffineExpr();
  return *condition ? x[1] : x[2];
}

} // namespace dlc::dl
