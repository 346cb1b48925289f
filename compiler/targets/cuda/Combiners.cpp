#include "compiler/targets/cuda/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dlc::cuda {

Operation *combinerOf(linalg::GenericOp op, unsigned output) {
  Operation *combiner = op.getBody()->getTerminator()->getOperand(output).getDefiningOp();
  Value carried = op.getRegionOutputArgs()[output];
  if (!combiner || combiner->getNumOperands() != 2 || !carried.hasOneUse() ||
      !llvm::is_contained(combiner->getOperands(), carried))
    return nullptr;
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::AddIOp,
             arith::MulIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
             arith::AndIOp, arith::OrIOp>(combiner)
             ? combiner
             : nullptr;
}

TypedAttr identityOf(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  OpBuilder b(combiner);
  auto number = [&](double value) -> TypedAttr {
    return isa<FloatType>(type) ? TypedAttr(b.getFloatAttr(type, value))
                                : TypedAttr(b.getIntegerAttr(type, int64_t(value)));
  };
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<arith::MulFOp, arith::MulIOp>(combiner))
    return number(1);
  if (isa<arith::MaximumFOp>(combiner))
    return number(-infinity);
  if (isa<arith::MinimumFOp>(combiner))
    return number(infinity);
  if (isa<arith::MaxSIOp>(combiner))
    return b.getIntegerAttr(type, APInt::getSignedMinValue(width));
  if (isa<arith::MinSIOp>(combiner))
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  if (isa<arith::MinUIOp, arith::AndIOp>(combiner))
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  return number(0);
}

} // namespace dlc::cuda
