// What a plan must keep to, so that later passes, the writer and the runtime can
// take it as it is. Each rule names what it found.

#include "dialects/plan/Plan.h"

using namespace mlir;
using namespace dlc::plan;

namespace {

/// Every buffer of an instruction is declared by a plan.buffer.
LogicalResult checkBuffers(Operation *op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!operand.getDefiningOp<BufferOp>())
      return op->emitOpError("operand ") << i << " is not declared by a plan.buffer";
  return success();
}

LogicalResult checkWritable(Operation *op, ValueRange targets) {
  for (Value target : targets) {
    auto buffer = target.getDefiningOp<BufferOp>();
    while (buffer && buffer.getStorage() == Storage::Alias && buffer.getBase())
      buffer = buffer.getBase().getDefiningOp<BufferOp>();
    if (buffer && (buffer.getStorage() == Storage::Input || buffer.getStorage() == Storage::Constant))
      return op->emitOpError("writes ") << stringifyStorage(buffer.getStorage()) << " buffer '"
                                        << buffer.getName() << "'";
  }
  return success();
}

LogicalResult checkNodes(Operation *op, ArrayAttr nodes) {
  for (Attribute node : nodes)
    if (!isa<NodeAttr>(node))
      return op->emitOpError("nodes must be #plan.node, not ") << node;
  return success();
}

LogicalResult checkMap(Operation *op, AffineMap map, std::optional<unsigned> results) {
  if (map.getNumDims() != 0)
    return op->emitOpError("sizes are functions of symbols, not of dimensions: ") << AffineMapAttr::get(map);
  if (results && map.getNumResults() != *results)
    return op->emitOpError("takes ") << *results << " sizes, not " << map.getNumResults();
  return success();
}

LogicalResult checkScalar(Operation *op, Value value, unsigned bits, StringRef what) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() != 0 || !type.getElementType().isInteger(bits))
    return op->emitOpError() << what << " must be one i" << bits << ", not " << type;
  return success();
}

} // namespace

LogicalResult ProgramOp::verify() {
  Block &body = getBody().front();
  if (!llvm::hasSingleElement(body.getOps<OutputsOp>()))
    return emitOpError("must have one plan.outputs");
  int64_t symbols = llvm::range_size(body.getOps<SymbolOp>());
  WalkResult result = walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs())
      if (auto map = dyn_cast<AffineMapAttr>(attr.getValue()))
        if (map.getValue().getNumSymbols() > symbols) {
          op->emitOpError("uses ") << map.getValue().getNumSymbols() << " symbols, "
                                   << symbols << " are declared";
          return WalkResult::interrupt();
        }
    auto bind = dyn_cast<BindSymbolOp>(op);
    if (bind && bind.getSymbol() >= uint64_t(symbols)) {
      op->emitOpError("binds symbol ") << bind.getSymbol() << ", " << symbols << " are declared";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ConstraintOp::verify() { return checkMap(*this, getSizes(), 2); }

LogicalResult BufferOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (failed(checkMap(*this, getDims(), type.getRank())))
    return failure();
  for (auto [axis, size] : llvm::enumerate(getDims().getResults()))
    if (auto constant = dyn_cast<AffineConstantExpr>(size);
        constant ? constant.getValue() != type.getDimSize(axis) : !type.isDynamicDim(axis))
      return emitOpError("axis ") << axis << " of " << getDimsAttr() << " does not fit " << type;
  if ((getStorage() == Storage::Alias) != bool(getBase()))
    return emitOpError("an alias, and only an alias, is `of` a buffer");
  if (getBase() && !getBase().getDefiningOp<BufferOp>())
    return emitOpError("is an alias of what is not a plan.buffer");
  bool mayHaveValue = getStorage() == Storage::Constant || getStorage() == Storage::State;
  if (getStorage() == Storage::Constant ? !getValueAttr() : getValueAttr() && !mayHaveValue)
    return emitOpError("a constant, and only a constant or a state, has a value");
  if (getValueAttr() && getValueAttr().getShapedType() != type)
    return emitOpError("value is ") << getValueAttr().getShapedType() << ", the buffer " << type;
  if (getRole() && getStorage() != Storage::State)
    return emitOpError("only states have a role");
  if (getOffset() && (getStorage() != Storage::Arena || *getOffset() < 0))
    return emitOpError("only arena buffers have an offset, of 0 or more");
  return success();
}

LogicalResult DispatchOp::verify() {
  if (failed(checkBuffers(*this)) || failed(checkWritable(*this, getOutputs())) ||
      failed(checkNodes(*this, getNodes())) || failed(checkMap(*this, getSizes(), std::nullopt)))
    return failure();
  if (getFlops() && failed(checkMap(*this, *getFlops(), 1)))
    return failure();
  ArrayRef<int64_t> pairs = getInplace().value_or(ArrayRef<int64_t>());
  for (auto [i, index] : llvm::enumerate(pairs)) {
    int64_t count = i % 2 ? getOutputs().size() : getInputs().size();
    if (index < 0 || index >= count || pairs.size() % 2)
      return emitOpError("inplace must be pairs of an input and an output: ") << getInplaceAttr();
  }
  return success();
}

LogicalResult CopyOp::verify() {
  if (failed(checkBuffers(*this)))
    return failure();
  Type from = getElementTypeOrSelf(getSource().getType()), to = getElementTypeOrSelf(getTarget().getType());
  if (from != to)
    return emitOpError("copies ") << from << " to " << to;
  return checkWritable(*this, getTarget());
}

LogicalResult BindSymbolOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (!type.getElementType().isInteger(32) && !type.getElementType().isInteger(64))
    return emitOpError("reads sizes from i32 or i64, not ") << type;
  if (type.hasStaticShape() && getIndex() >= uint64_t(type.getNumElements()))
    return emitOpError("element ") << getIndex() << " lies outside " << type;
  return checkBuffers(*this);
}

LogicalResult CheckIndicesOp::verify() {
  if (!getElementTypeOrSelf(getSource().getType()).isInteger())
    return emitOpError("checks integers, not ") << getSource().getType();
  if (failed(checkBuffers(*this)) || failed(checkMap(*this, getBounds(), 2)))
    return failure();
  return checkNodes(*this, getNodes());
}

LogicalResult IfOp::verify() {
  if (failed(checkBuffers(*this)))
    return failure();
  return checkScalar(*this, getCondition(), 1, "condition");
}

LogicalResult LoopOp::verify() {
  if (failed(checkBuffers(*this)) || failed(checkScalar(*this, getCounter(), 64, "counter")) ||
      failed(checkScalar(*this, getCondition(), 1, "condition")) ||
      failed(checkScalar(*this, getNextCondition(), 1, "next condition")) ||
      (getTrip() && failed(checkScalar(*this, getTrip(), 64, "trip count"))))
    return failure();
  if (getCarriedFrom().size() != getCarriedTo().size() || getScanFrom().size() != getScanTo().size())
    return emitOpError("needs one target for each carried and each scanned buffer");
  if (failed(checkWritable(*this, getCarriedTo())))
    return failure();
  return checkWritable(*this, getScanTo());
}

LogicalResult OutputsOp::verify() {
  for (auto [i, value] : llvm::enumerate(getValues())) {
    auto buffer = value.getDefiningOp<BufferOp>();
    if (!buffer || buffer.getStorage() != Storage::Output)
      return emitOpError("value ") << i << " is not an output buffer";
  }
  return success();
}
