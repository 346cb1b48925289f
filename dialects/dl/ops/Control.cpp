// Shapes of control flow.

#include "dialects/dl/ops/Control.h"

#include "dialects/dl/ops/Structure.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Control.cpp.inc"

namespace dlc::dl {

void registerControlOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Control.cpp.inc"
      >();
}

namespace {

/// One element; whatever the rank, as models are not strict about it.
bool isSingle(Value v, unsigned width) {
  auto type = cast<RankedTensorType>(v.getType());
  return type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getElementType().isSignlessInteger(width);
}

ValueRange yieldOf(Region &region) { return region.front().getTerminator()->getOperands(); }

} // namespace

LogicalResult IfOp::inferTypes(InferContext &c) {
  if (!isSingle(getCondition(), 1)) // C1
    return c.error() << "condition must be one bool, is " << getCondition().getType();
  ValueRange a = yieldOf(getThenRegion()), b = yieldOf(getElseRegion());
  if (a.size() != b.size()) // C2
    return c.error() << "regions yield " << a.size() << " and " << b.size() << " values";
  for (auto [i, x, y] : llvm::enumerate(a, b)) {
    TensorInfo left = c.of(x), right = c.of(y);
    bool differs = left.element != right.element;
    if (differs || left.rank() != right.rank()) // C2
      return c.error() << (differs ? "" : "unsupported: ") << "regions yield " << x.getType() << " and " << y.getType()
                       << " for result " << i;
    Shape dims;
    for (auto [p, q] : llvm::zip(left.dims, right.dims))
      dims.push_back(p == q ? p : c.unknown());
    c.addResult(dims, left.element);
  }
  return success();
}

LogicalResult LoopOp::inferTypes(InferContext &c) {
  if ((getTrip() && !isSingle(getTrip(), 64)) || (getCondition() && !isSingle(getCondition(), 1))) // C1
    return c.error() << "trip count must be one i64 and the condition one bool";
  unsigned carried = numCarried();
  ValueRange next = yielded();
  if (getBody().getNumArguments() != carried + 2 || next.size() < carried + 1) // C2
    return c.error() << "body has " << getBody().getNumArguments() << " arguments and yields "
                     << next.size() << " values for " << carried << " carried ones";
  if (!isSingle(next[0], 1))
    return c.error() << "next condition must be one bool, is " << next[0].getType();
  for (unsigned i = 0; i < carried; ++i) {
    TensorInfo before = c.of(carriedArg(i)), after = c.of(next[i + 1]), start = c.of(getInitial()[i]);
    if (before.element != after.element || before.rank() != after.rank() ||
        before.element != start.element || before.rank() != start.rank()) // C3
      return c.error() << "carried value " << i << " changes from " << getInitial()[i].getType()
                       << " to " << next[i + 1].getType();
    for (auto [p, q] : llvm::zip(before.dims, after.dims))
      if (failed(c.equal(p, q, "unsupported: a carried value changes its shape"))) // C3
        return failure();
    c.addResult(start.dims, start.element);
  }
  c.addResult({}, IntegerType::get(c.context(), 64));
  for (Value slice : next.drop_front(carried + 1)) {
    if (!getTrip()) // C4
      return c.error() << "scanned results need a trip count";
    TensorInfo info = c.of(slice);
    info.dims.insert(info.dims.begin(), c.element(getTrip(), 0));
    c.addResult(info.dims, info.element);
  }
  return success();
}

} // namespace dlc::dl
