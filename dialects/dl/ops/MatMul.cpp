// What matrix products mean: shape, lowering and cost.

#include "dialects/dl/ops/MatMul.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/LinalgLowering.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/MatMul.cpp.inc"

namespace dlc::dl {

void registerMatMulOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/MatMul.cpp.inc"
      >();
}

LogicalResult MatMulOp::inferTypes(InferContext &c) {
  TensorInfo lhs = c.of(getLhs()), rhs = c.of(getRhs());
  if (lhs.rank() < 2 || rhs.rank() < 2) // C1
    return c.error() << "operands have the ranks " << lhs.rank() << " and "
                     << rhs.rank() << ", expects 2 or more";
  if (lhs.element != rhs.element) // C1
    return c.error() << "operands are " << lhs.element << " and " << rhs.element;
  auto axis = [](const TensorInfo &t, bool last) { return t.dims[t.rank() - (last ? 1 : 2)]; };
  AffineExpr m = axis(lhs, getTransposeLhs()), n = axis(rhs, !getTransposeRhs());
  if (failed(c.equal(axis(lhs, !getTransposeLhs()), axis(rhs, getTransposeRhs()),
                     "inner sizes"))) // C2
    return failure();
  Shape left(lhs.dims.begin(), lhs.dims.end() - 2);
  Shape right(rhs.dims.begin(), rhs.dims.end() - 2);
  auto dims = c.broadcast({left, right}); // C3
  if (failed(dims))
    return failure();
  dims->push_back(m);
  dims->push_back(n);
  c.addResult(*dims, lhs.element);
  return success();
}

FusionRole MatMulOp::fusionRole() { return FusionRole::Contraction; }

FailureOr<SmallVector<Value>> MatMulOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  int64_t rank = l.rank(getResult()), loops = rank + 1;
  AffineExpr m = b.getAffineDimExpr(rank - 2), n = b.getAffineDimExpr(rank - 1);
  AffineExpr k = b.getAffineDimExpr(rank);
  // Loops: batch.., m, n, k.
  auto operandMap = [&](Value operand, AffineExpr row, AffineExpr column) {
    auto shape = cast<RankedTensorType>(operand.getType()).getShape();
    int64_t batch = shape.size() - 2;
    SmallVector<AffineExpr> exprs;
    for (int64_t axis = 0; axis < batch; ++axis)
      exprs.push_back(shape[axis] == 1 ? b.getAffineConstantExpr(0)
                                       : b.getAffineDimExpr(rank - 2 - batch + axis));
    exprs.push_back(row);
    exprs.push_back(column);
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  SmallVector<AffineMap> maps = {
      getTransposeLhs() ? operandMap(getLhs(), k, m) : operandMap(getLhs(), m, k),
      getTransposeRhs() ? operandMap(getRhs(), n, k) : operandMap(getRhs(), k, n),
      AffineMap::get(loops, 0, b.getMultiDimIdentityMap(rank).getResults(), b.getContext())};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  return l.accumulate({l.operand(getLhs()), l.operand(getRhs())}, getResult(), maps, kinds,
                      [](ScalarMath &math, ValueRange x) { return math.multiply(x[0], x[1]); });
}

namespace {

/// lhs * rhs, each read transposed where its flag says so.
Value product(GradientBuilder &g, Value lhs, bool transposeLhs, Value rhs, bool transposeRhs) {
  auto flag = [&](bool isSet) { return isSet ? g.b.getUnitAttr() : UnitAttr(); };
  return g.make<MatMulOp>(lhs, rhs, flag(transposeLhs), flag(transposeRhs));
}

/// All rows of a stack of matrices as one matrix.
Value stackRows(GradientBuilder &g, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t last = type.getRank() - 1, columns = type.getDimSize(last);
  if (last == 1)
    return x;
  if (!ShapedType::isDynamic(columns))
    return g.reshape(x, g.indices({-1, columns}));
  return g.flatten(x, {0, last});
}

} // namespace

// With y = a * b: da = dy * b', db = a' * dy, summed over broadcast matrices.
FailureOr<SmallVector<Value>> MatMulOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value dy = grads[0], a = getLhs(), b = getRhs();
  bool ta = getTransposeLhs(), tb = getTransposeRhs();
  Value da = ta ? product(g, b, tb, dy, true) : product(g, dy, false, b, !tb);
  if (!ta && cast<RankedTensorType>(b.getType()).getRank() == 2) {
    // One matrix for all rows: the sum over the stack is part of the product.
    a = stackRows(g, a);
    dy = stackRows(g, dy);
  }
  Value db = tb ? product(g, dy, true, a, ta) : product(g, a, !ta, dy, false);
  return g.sumToOperands({da, db});
}

AffineExpr MatMulOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  AffineExpr outputs = product(dims(getResult()), getContext());
  ArrayRef<AffineExpr> lhs = dims(getLhs());
  return outputs * lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)] * 2;
}

} // namespace dlc::dl
