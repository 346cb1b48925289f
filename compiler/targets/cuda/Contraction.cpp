#include "compiler/targets/cuda/Contraction.h"

#include "compiler/targets/cuda/Groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// Below these a tile would be mostly empty.
constexpr int64_t kLeastRows = 8, kLeastColumns = 8, kLeastDepth = 8;

/// The only input of `op` that the scalar is computed from; none for several.
std::optional<unsigned> sourceOf(linalg::GenericOp op, Value scalar) {
  std::optional<unsigned> source;
  SmallVector<Value> work = {scalar};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != op.getBody() || argument.getArgNumber() >= op.getNumDpsInputs() ||
          (source && *source != argument.getArgNumber()))
        return std::nullopt;
      source = argument.getArgNumber();
      continue;
    }
    Operation *def = value.getDefiningOp();
    // Only conversions: work on an operand would be repeated for every tile.
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::TruncFOp>(def))
      return std::nullopt;
    llvm::append_range(work, def->getOperands());
  }
  return source;
}

/// acc + x * y, in either order; the factors.
std::optional<std::pair<Value, Value>> factorsOf(linalg::GenericOp op) {
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  Operation *sum = yielded.getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return std::nullopt;
  Value carried = op.getRegionOutputArgs().front();
  unsigned side = sum->getOperand(0) == carried ? 1 : 0;
  Operation *product = sum->getOperand(side).getDefiningOp();
  if (sum->getOperand(1 - side) != carried || !carried.hasOneUse() || !product ||
      !isa<arith::MulFOp, arith::MulIOp>(product))
    return std::nullopt;
  return std::pair(product->getOperand(0), product->getOperand(1));
}

bool isSmall(linalg::GenericOp op, ArrayRef<unsigned> loops, int64_t least) {
  int64_t size = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(ranges[loop]))
      return false;
    size *= ranges[loop];
  }
  return size < least;
}

} // namespace

std::optional<Contraction> toContraction(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 || op.hasIndexSemantics())
    return std::nullopt;
  auto factors = factorsOf(op);
  auto order = parallelOrder(op);
  if (!factors || !order)
    return std::nullopt;
  auto first = sourceOf(op, factors->first), second = sourceOf(op, factors->second);
  if (!first || !second || *first == *second)
    return std::nullopt;
  Contraction result{op, {}, {}, {}, {}, *first, *second, factors->first, factors->second};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap a = maps[*first], b = maps[*second];
  for (unsigned loop : *order) {
    bool inA = a.isFunctionOfDim(loop), inB = b.isFunctionOfDim(loop);
    if (!inA && !inB)
      return std::nullopt;
    (inA && inB ? result.batch : inA ? result.m : result.n).push_back(loop);
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel) {
      if (!a.isFunctionOfDim(loop) || !b.isFunctionOfDim(loop))
        return std::nullopt;
      result.k.push_back(loop);
    }
  for (unsigned i = 0; i < op.getNumDpsInputs(); ++i)
    if (i != *first && i != *second && !op.getRegionInputArgs()[i].use_empty())
      return std::nullopt;
  if (result.m.empty() || result.n.empty() || isSmall(op, result.m, kLeastRows) ||
      isSmall(op, result.n, kLeastColumns) || isSmall(op, result.k, kLeastDepth))
    return std::nullopt;
  return result;
}

} // namespace dlc::cuda
