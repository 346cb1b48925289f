// Constants and shape_of: shapes, folding, lowering.

#include "dialects/dl/ops/Constant.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Constant.cpp.inc"

namespace dlc::dl {

void registerConstantOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Constant.cpp.inc"
      >();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::inferTypes(InferContext &c) {
  Shape dims;
  for (int64_t size : getValue().getShapedType().getShape())
    dims.push_back(c.constant(size));
  c.addResult(dims, getValue().getElementType());
  return success();
}

LogicalResult ShapeOfOp::inferTypes(InferContext &c) {
  Shape dims = c.of(getInput()).dims;
  c.addResult({c.constant(dims.size())}, IntegerType::get(c.context(), 64),
              SmallVector<AffineExpr>(dims));
  return success();
}

OpFoldResult ShapeOfOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (!type.hasStaticShape())
    return {};
  return DenseElementsAttr::get(cast<RankedTensorType>(getType()),
                                type.getShape());
}

FailureOr<SmallVector<Value>> ShapeOfOp::lowerToLinalg(LinalgLowering &l) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0, e = l.rank(getInput()); axis < e; ++axis)
    sizes.push_back(arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(),
                                               l.dimValue(getInput(), axis)));
  auto type = l.type(getResult());
  if (sizes.empty())
    return SmallVector<Value>{l.empty(getResult())};
  return SmallVector<Value>{
      tensor::FromElementsOp::create(l.b, l.loc, type, sizes)};
}

} // namespace dlc::dl
