// Temporaries inside loops become one buffer in front of them: memory of a call
// does not grow with the number of its units or steps.

#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// True when the buffer may outlive the iteration that allocates it.
bool escapes(Value buffer) {
  for (Operation *user : buffer.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>() || isa<LoopLikeOpInterface>(user))
      return true;
    for (Value result : user->getResults())
      if (isa<MemRefType>(result.getType()) && escapes(result))
        return true;
  }
  return false;
}

LoopLikeOpInterface outermostLoop(Operation *op) {
  LoopLikeOpInterface outermost;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    outermost = loop;
  return outermost;
}

/// A size that is known in front of the loop and never too small.
Value sizeOutside(OpBuilder &b, Value size, LoopLikeOpInterface loop) {
  if (!loop->isAncestor(size.getParentBlock()->getParentOp()))
    return size;
  auto bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, ValueBoundsConstraintSet::Variable(size),
      /*stopCondition=*/nullptr, /*closedUB=*/true);
  if (failed(bound))
    return {};
  return arith::ConstantIndexOp::create(b, loop.getLoc(), std::max<int64_t>(0, *bound));
}

void hoist(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  LoopLikeOpInterface loop = outermostLoop(alloc);
  if (!loop || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat() ||
      escapes(alloc))
    return;
  OpBuilder b(loop);
  Location loc = alloc.getLoc();
  if (type.hasStaticShape()) {
    alloc->moveBefore(loop);
    return;
  }
  int64_t staticBytes = (type.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : type.getShape())
    staticBytes *= ShapedType::isDynamic(size) ? 1 : size;
  Value bytes = arith::ConstantIndexOp::create(b, loc, staticBytes);
  for (Value size : alloc.getDynamicSizes()) {
    Value outside = sizeOutside(b, size, loop);
    if (!outside)
      return;
    bytes = arith::MulIOp::create(b, loc, bytes, outside);
  }
  auto rawType = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  Value raw = memref::AllocOp::create(b, loc, rawType, ValueRange{bytes});
  b.setInsertionPoint(alloc);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value view = memref::ViewOp::create(b, loc, type, raw, zero, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

} // namespace

void reuseBuffers(func::FuncOp body) {
  SmallVector<memref::AllocOp> allocations;
  body.walk([&](memref::AllocOp op) { allocations.push_back(op); });
  llvm::for_each(allocations, hoist);
}

} // namespace dlc::cpu
