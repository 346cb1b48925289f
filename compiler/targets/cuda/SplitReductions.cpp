// A reduction with few results leaves most of a GPU idle. Its outer loops, or a part of
// its longest one, become parallel: many partial results, then a second reduction over
// them. The order is fixed by the sizes alone, so the result has the same bits every time.

#include "compiler/targets/cuda/Combiners.h"
#include "compiler/targets/cuda/Contraction.h"
#include "compiler/targets/cuda/Groups.h"
#include "compiler/targets/cuda/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// Blocks that keep the largest devices busy.
constexpr int64_t kEnoughBlocks = 256;
/// What a size counts for that only a run knows.
constexpr int64_t kUnknownSize = 16;

int64_t assumed(int64_t size) { return ShapedType::isDynamic(size) ? kUnknownSize : size; }

/// What one reduction keeps busy, and what has to remain of it for one part.
struct Load {
  int64_t blocks = 1, leastDepth = 1;
};

int64_t tilesOf(int64_t size) { return int64_t(llvm::divideCeil(size, 64)); }

Load loadOf(linalg::GenericOp op, ArrayRef<int64_t> sizes) {
  auto product = [&](ArrayRef<unsigned> loops) {
    int64_t total = 1;
    for (unsigned loop : loops)
      total *= sizes[loop];
    return total;
  };
  if (auto c = toContraction(op))
    return {product(c->batch) * tilesOf(product(c->m)) * tilesOf(product(c->n)), 64};
  SmallVector<unsigned> order = *parallelOrder(op);
  if (readsRows(op))
    return {product(order), 256};
  return {int64_t(llvm::divideCeil(product(order), 256)), 16};
}

/// Which part of the reduction becomes parallel.
struct Split {
  SmallVector<unsigned> loops; // wholly
  std::optional<unsigned> cut; // a loop of static size, into `parts`
  int64_t parts = 1;
};

/// The divisor of `size` that is nearest above what is wanted; 1 where that leaves too little.
int64_t partsOf(int64_t size, int64_t wanted, int64_t leastDepth) {
  for (int64_t parts = wanted; parts <= size / leastDepth; ++parts)
    if (size % parts == 0)
      return parts;
  for (int64_t parts = std::min(wanted, size / leastDepth); parts > 1; --parts)
    if (size % parts == 0)
      return parts;
  return 1;
}

Split chooseSplit(linalg::GenericOp op) {
  Split split;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> reduced;
  int64_t depth = 1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::parallel) {
      if (ShapedType::isDynamic(sizes[loop]))
        return split; // many, in all likelihood
      continue;
    }
    reduced.push_back(loop);
    depth *= assumed(sizes[loop]);
  }
  Load load = loadOf(op, sizes);
  // The innermost loop stays: threads side by side read side by side.
  for (unsigned loop : ArrayRef(reduced).drop_back()) {
    int64_t size = assumed(sizes[loop]);
    if (load.blocks >= kEnoughBlocks || depth / size < load.leastDepth)
      break;
    if (size == 1)
      continue;
    split.loops.push_back(loop);
    load.blocks *= size;
    depth /= size;
  }
  if (load.blocks >= kEnoughBlocks)
    return split;
  for (unsigned loop : reduced) {
    if (llvm::is_contained(split.loops, loop) || ShapedType::isDynamic(sizes[loop]))
      continue;
    int64_t others = depth / sizes[loop], wanted = llvm::divideCeil(kEnoughBlocks, load.blocks);
    int64_t parts = partsOf(sizes[loop], wanted, llvm::divideCeil(load.leastDepth, others));
    if (parts > split.parts)
      split.cut = loop, split.parts = parts;
  }
  return split;
}

class Splitter {
public:
  Splitter(linalg::GenericOp op, Split split)
      : op(op), split(std::move(split)), b(op), loc(op.getLoc()), combiner(combinerOf(op, 0)) {}

  void run() {
    Value partial = makePartial();
    // What fills the result is one launch with what adds to it.
    Operation *init = op.getDpsInits()[0].getDefiningOp();
    if (isa_and_nonnull<linalg::FillOp>(init) && init->hasOneUse())
      init->moveBefore(op);
    op->getResult(0).replaceAllUsesWith(combine(partial));
    op.erase();
  }

private:
  Value emptyTensor(ArrayRef<OpFoldResult> sizes, Type element) {
    return tensor::EmptyOp::create(b, loc, sizes, element);
  }

  /// Partial results: first the loops that became parallel, then the op's own axes.
  Value makePartial() {
    auto ranges = cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc);
    AffineMap results = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    unsigned numLoops = op.getNumLoops();
    SmallVector<AffineExpr> place;
    SmallVector<OpFoldResult> sizes;
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (unsigned loop : split.loops) {
      place.push_back(b.getAffineDimExpr(loop));
      sizes.push_back(ranges[loop].size);
      kinds[loop] = utils::IteratorType::parallel;
    }
    if (split.cut) {
      place.push_back(b.getAffineDimExpr(numLoops));
      sizes.push_back(b.getIndexAttr(split.parts));
      kinds.push_back(utils::IteratorType::parallel);
    }
    for (AffineExpr axis : results.getResults()) {
      place.push_back(axis);
      sizes.push_back(ranges[cast<AffineDimExpr>(axis).getPosition()].size);
    }
    Type element = combiner->getResult(0).getType();
    Value identity = arith::ConstantOp::create(b, loc, identityOf(combiner));
    Value init = linalg::FillOp::create(b, loc, identity, emptyTensor(sizes, element)).getResult(0);
    return makeGeneric(init, place, kinds);
  }

  Value makeGeneric(Value init, ArrayRef<AffineExpr> place, ArrayRef<utils::IteratorType> kinds) {
    SmallVector<Value> inputs(op.getInputs());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.pop_back();
    if (split.cut)
      cutLoop(inputs, maps);
    maps.push_back(AffineMap::get(kinds.size(), 0, place, op.getContext()));
    auto partial = linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, kinds);
    IRMapping mapping;
    op.getRegion().cloneInto(&partial.getRegion(), mapping);
    // The size of what remains of the cut loop comes from an operand that nobody reads.
    if (split.cut)
      partial.getBody()->insertArgument(inputs.size() - 1, b.getIntegerType(8), loc);
    return partial.getResult(0);
  }

  /// The loop walks one part; the new last loop says which.
  void cutLoop(SmallVectorImpl<Value> &inputs, SmallVectorImpl<AffineMap> &maps) {
    unsigned loop = *split.cut, numLoops = op.getNumLoops();
    int64_t left = op.getStaticLoopRanges()[loop] / split.parts;
    AffineExpr inner = b.getAffineDimExpr(loop), part = b.getAffineDimExpr(numLoops);
    for (AffineMap &map : maps)
      map = AffineMap::get(numLoops + 1, 0,
                           llvm::map_to_vector(map.getResults(),
                                               [&](AffineExpr e) { return e.replace(inner, part * left + inner); }),
                           op.getContext());
    inputs.push_back(emptyTensor({b.getIndexAttr(left)}, b.getIntegerType(8)));
    maps.push_back(AffineMap::get(numLoops + 1, 0, inner));
  }

  /// Reduces the leading axes of the partial results into the op's own init.
  Value combine(Value partial) {
    int64_t rank = cast<RankedTensorType>(partial.getType()).getRank();
    int64_t numReduced = rank - cast<RankedTensorType>(op.getResult(0).getType()).getRank();
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    std::fill_n(kinds.begin(), numReduced, utils::IteratorType::reduction);
    AffineMap all = b.getMultiDimIdentityMap(rank);
    SmallVector<AffineMap> maps = {
        all, AffineMap::get(rank, 0, all.getResults().drop_front(numReduced), op.getContext())};
    return linalg::GenericOp::create(b, loc, op.getResult(0).getType(), partial, op.getDpsInits()[0], maps, kinds,
                                     [&](OpBuilder &inner, Location, ValueRange arguments) {
                                       IRMapping mapping;
                                       bool isFirst = combiner->getOperand(0) == op.getRegionOutputArgs()[0];
                                       mapping.map(combiner->getOperand(isFirst ? 0 : 1), arguments[1]);
                                       mapping.map(combiner->getOperand(isFirst ? 1 : 0), arguments[0]);
                                       Operation *combined = inner.clone(*combiner, mapping);
                                       linalg::YieldOp::create(inner, loc, combined->getResult(0));
                                     })
        .getResult(0);
  }

  linalg::GenericOp op;
  Split split;
  OpBuilder b;
  Location loc;
  Operation *combiner;
};

/// One result that is put together from its parts, at a place of its own.
bool canSplit(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 || op.hasIndexSemantics() || !combinerOf(op, 0) ||
      !parallelOrder(op))
    return false;
  AffineMap results = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return results.isProjectedPermutation() && op.getRegionOutputArgs()[0].getType() == combinerOf(op, 0)->getResult(0).getType();
}

} // namespace

void splitReductions(func::FuncOp function) {
  SmallVector<linalg::GenericOp> reductions;
  function.walk([&](linalg::GenericOp op) {
    // In a loop of the program a second launch is not to be had.
    if (op->getParentOp() == function && canSplit(op))
      reductions.push_back(op);
  });
  for (linalg::GenericOp op : reductions) {
    Split split = chooseSplit(op);
    if (!split.loops.empty() || split.cut)
      Splitter(op, split).run();
  }
}

} // namespace dlc::cuda
