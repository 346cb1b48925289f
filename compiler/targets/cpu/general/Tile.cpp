// Cuts a kernel into units of work.

#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Scalar operations that make a unit of work worth handing to a thread.
constexpr int64_t kUnitOperations = 1 << 15;
/// What a dynamic size is taken for when units are sized.
constexpr int64_t kTypicalSize = 64;
/// A unit of typical size may be this much smaller than a whole one, so that
/// sizes far above the typical one are still shared among threads.
constexpr int64_t kSmallestPart = 8;

/// The op whose results the kernel returns, when it is the only one.
linalg::LinalgOp findRoot(func::FuncOp kernel) {
  Operation *terminator = kernel.getBody().front().getTerminator();
  linalg::LinalgOp root;
  for (Value value : terminator->getOperands()) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    if (!op || (root && op != root))
      return {};
    root = op;
  }
  return root;
}

/// Loops along which a producer would be computed again by every tile: those
/// that its result does not vary with.
llvm::SmallBitVector findSharedLoops(linalg::LinalgOp root) {
  llvm::SmallBitVector shared(root.getNumLoops());
  for (OpOperand *operand : root.getDpsInputOperands()) {
    if (!operand->get().getDefiningOp<linalg::LinalgOp>())
      continue;
    AffineMap map = root.getMatchingIndexingMap(operand);
    for (unsigned loop = 0; loop < root.getNumLoops(); ++loop)
      if (!map.isFunctionOfDim(loop))
        shared.set(loop);
  }
  return shared;
}

SmallVector<int64_t> chooseTiles(linalg::LinalgOp root, AffineMap outputMap) {
  SmallVector<int64_t> sizes = root.getStaticLoopRanges();
  auto typical = [&](unsigned loop) {
    return ShapedType::isDynamic(sizes[loop]) ? kTypicalSize : sizes[loop];
  };
  SmallVector<utils::IteratorType> kinds = root.getIteratorTypesArray();
  int64_t operations = 1;
  for (auto [loop, kind] : llvm::enumerate(kinds))
    if (kind != utils::IteratorType::parallel)
      operations *= std::max<int64_t>(1, typical(loop));
  SmallVector<int64_t> tiles(sizes.size(), 0);
  llvm::SmallBitVector shared = findSharedLoops(root);
  // From the innermost output axis outwards: whole axes while the unit is
  // small, then a part of one axis, then single steps.
  SmallVector<unsigned> axes;
  for (AffineExpr expr : llvm::reverse(outputMap.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (shared.test(loop))
      operations *= std::max<int64_t>(1, typical(loop));
    else if (sizes[loop] != 1)
      axes.push_back(loop);
  }
  for (unsigned loop : axes) {
    int64_t size = std::max<int64_t>(1, typical(loop));
    bool isDynamic = ShapedType::isDynamic(sizes[loop]);
    if (operations >= kUnitOperations) {
      tiles[loop] = 1;
      continue;
    }
    int64_t part = (kUnitOperations + operations - 1) / operations;
    if (size > part || (isDynamic && operations * size >= kUnitOperations / kSmallestPart)) {
      // Whole vectors, and nearly equal parts.
      int64_t parts = std::max<int64_t>(1, size / part);
      tiles[loop] = (size + parts - 1) / parts;
      if (tiles[loop] > 16)
        tiles[loop] = (tiles[loop] + 15) / 16 * 16;
      if (!isDynamic && tiles[loop] >= sizes[loop])
        tiles[loop] = 0;
      operations = kUnitOperations;
      continue;
    }
    // The outermost axis has nothing outside it that would divide the work.
    if (isDynamic && loop == axes.back())
      tiles[loop] = part;
    operations *= size;
  }
  return tiles;
}

/// product over tiled loops of ceil(size / tile), over the kernel's sizes.
AffineMap workCount(func::FuncOp kernel, AffineMap outputMap,
                    ArrayRef<int64_t> tiles) {
  auto dims = kernel.getResultAttrOfType<AffineMapAttr>(0, "dl.dims").getValue();
  AffineExpr count = getAffineConstantExpr(1, kernel.getContext());
  for (auto [axis, expr] : llvm::enumerate(outputMap.getResults())) {
    int64_t tile = tiles[cast<AffineDimExpr>(expr).getPosition()];
    if (tile > 0)
      count = count * dims.getResult(axis).ceilDiv(tile);
  }
  return AffineMap::get(0, dims.getNumSymbols(), count);
}

/// Tiling asks the untiled producers for their sizes, which would keep them
/// alive, and makes a copy of a producer for each of its uses.
LogicalResult dropUntiledProducers(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
    return failure();
  PassManager pm(kernel.getContext(), "func.func");
  pm.enableVerifier(false);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  return pm.run(kernel);
}

} // namespace

void tileForWork(func::FuncOp kernel) {
  linalg::LinalgOp root = findRoot(kernel);
  if (!root || !kernel.getResultAttr(0, "dl.dims"))
    return;
  AffineMap outputMap = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  for (OpOperand &init : root.getDpsInitsMutable())
    if (root.getMatchingIndexingMap(&init) != outputMap)
      return;
  if (!outputMap.isProjectedPermutation())
    return;
  SmallVector<int64_t> tiles = chooseTiles(root, outputMap);
  if (llvm::all_of(tiles, [](int64_t tile) { return tile == 0; }))
    return;

  IRRewriter rewriter(kernel.getContext());
  rewriter.setInsertionPoint(root);
  SmallVector<OpFoldResult> tileSizes;
  for (int64_t tile : tiles)
    tileSizes.push_back(rewriter.getIndexAttr(tile));
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.tilingOptions.setTileSizes(tileSizes);
  AffineMap work = workCount(kernel, outputMap, tiles);
  auto tiled = scf::tileConsumerAndFuseProducersUsingSCF(
      rewriter, cast<TilingInterface>(root.getOperation()), options);
  if (failed(tiled) || tiled->loops.size() != 1)
    return;
  for (auto [from, to] : tiled->replacements)
    rewriter.replaceAllUsesWith(from, to);
  tiled->loops.front()->setAttr(kWorkAttr, rewriter.getUnitAttr());
  kernel->setAttr(kWorkCountAttr, AffineMapAttr::get(work));
  (void)dropUntiledProducers(kernel); // what is left only costs time
}

} // namespace dlc::cpu
