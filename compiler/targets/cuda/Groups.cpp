#include "compiler/targets/cuda/Groups.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace dlc::cuda {

Value rootOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

std::optional<SmallVector<unsigned>> parallelOrder(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<unsigned> order;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<unsigned> mine;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        mine.push_back(dim.getPosition());
    if (order.empty())
      order = mine;
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] == utils::IteratorType::parallel && !llvm::is_contained(mine, loop))
        return std::nullopt;
  }
  llvm::erase_if(order, [&](unsigned loop) { return kinds[loop] != utils::IteratorType::parallel; });
  return order;
}

std::optional<PointOp> toPoints(linalg::GenericOp op, ArrayRef<AffineExpr> loopSizes) {
  auto order = parallelOrder(op);
  if (!order)
    return std::nullopt;
  PointOp result{op, *order, {}, {}};
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> renamed(op.getNumLoops());
  unsigned next = order->size();
  for (auto [number, loop] : llvm::enumerate(*order)) {
    renamed[loop] = getAffineDimExpr(number, context);
    result.sizes.push_back(loopSizes[loop]);
  }
  for (AffineExpr &expr : renamed)
    if (!expr)
      expr = getAffineDimExpr(next++, context);
  for (OpOperand &operand : op->getOpOperands()) {
    Value memref = operand.get();
    if (!isa<MemRefType>(memref.getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    AffineMap place = map.replaceDimsAndSymbols(renamed, {}, op.getNumLoops(), 0);
    Value root = rootOf(memref);
    result.accesses.push_back({root, root == memref ? place : AffineMap(), op.isDpsInit(&operand)});
  }
  op.getBody()->walk([&](memref::LoadOp load) {
    result.accesses.push_back({rootOf(load.getMemref()), {}, false});
  });
  return result;
}

/// The place is a function of the parallel loops alone.
static bool isOwnPlace(const PointOp &op, AffineMap place) {
  if (!place)
    return false;
  for (unsigned dim = op.order.size(); dim < place.getNumDims(); ++dim)
    if (place.isFunctionOfDim(dim))
      return false;
  return true;
}

static bool samePlace(AffineMap a, AffineMap b) { return a.getResults() == b.getResults(); }

bool canJoin(ArrayRef<PointOp> group, const PointOp &next) {
  if (group.front().sizes != next.sizes || llvm::is_contained(next.sizes, AffineExpr()))
    return false;
  SmallVector<const PointOp *> all{&next};
  for (const PointOp &member : group)
    all.push_back(&member);
  // Where something is written, everyone stays at the place of the point.
  for (const PointOp *writer : all)
    for (const Access &write : writer->accesses) {
      if (!write.isWrite)
        continue;
      if (!isOwnPlace(*writer, write.place))
        return false;
      for (const PointOp *other : all)
        for (const Access &access : other->accesses)
          if (access.root == write.root &&
              (!isOwnPlace(*other, access.place) || !samePlace(access.place, write.place)))
            return false;
    }
  return true;
}

/// Allocations that only the group uses.
static SmallVector<Value> privateBuffers(ArrayRef<PointOp> group) {
  SmallVector<Value> result;
  llvm::SmallPtrSet<Operation *, 8> members;
  for (const PointOp &member : group)
    members.insert(member.op);
  for (const PointOp &member : group)
    for (const Access &access : member.accesses) {
      Value root = access.root;
      if (!access.isWrite || !root.getDefiningOp<memref::AllocOp>() || llvm::is_contained(result, root))
        continue;
      if (llvm::all_of(root.getUsers(), [&](Operation *user) {
            return members.contains(user) || isa<memref::DeallocOp, memref::DimOp>(user);
          }))
        result.push_back(root);
    }
  return result;
}

/// Private buffers that every access reaches by its first `rank` loops alone.
static SmallVector<Value> buffersOver(ArrayRef<PointOp> group, std::optional<unsigned> rank) {
  SmallVector<Value> result = privateBuffers(group);
  llvm::erase_if(result, [&](Value buffer) {
    for (const PointOp &member : group)
      for (const Access &access : member.accesses) {
        if (access.root != buffer)
          continue;
        if (!access.place)
          return true;
        unsigned least = rank ? *rank : member.order.size();
        for (unsigned dim = least; dim < access.place.getNumDims(); ++dim)
          if (access.place.isFunctionOfDim(dim))
            return true;
      }
    return false;
  });
  return result;
}

SmallVector<Value> localBuffers(ArrayRef<PointOp> group) { return buffersOver(group, std::nullopt); }

SmallVector<Value> rowVariables(ArrayRef<PointOp> group, unsigned rank) {
  return buffersOver(group, rank);
}

} // namespace dlc::cuda
