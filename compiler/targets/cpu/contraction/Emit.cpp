// Prints one contraction kernel: units of work, filter blocks, pixel tiles,
// and inside a tile the accumulation and the epilogue.

#include "compiler/targets/cpu/contraction/Contraction.h"
#include "compiler/targets/cpu/contraction/KernelBuilder.h"
#include "compiler/targets/cpu/contraction/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Multiply-adds that make a unit of work worth handing to a thread (~20 us).
constexpr int64_t kUnitMultiplyAdds = 1 << 20;
/// Tiles that reuse one filter block while it is in the nearest cache.
constexpr int64_t kTilesPerUnit = 12;
/// Input channels of which a unit's pixels stay in the second cache.
constexpr int64_t kMostTerms = 1024;
/// Blocks that read a copy of a tile's rows.
constexpr int64_t kBlocksPerCopy = 6;

std::optional<int64_t> constantValue(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

class Emitter {
public:
  Emitter(OpBuilder &b, const ContractionKernel &kernel, const VectorIsa &isa)
      : kernel(kernel), builder(b), m(b, b.getUnknownLoc(), isa.lanes),
        pixelsExpr(kernel.batch * kernel.outHeight * kernel.outWidth) {
    shape = chooseTile(isa, kernel.outChannels, constantValue(pixelsExpr));
    columns = blockColumns(isa, kernel.outChannels);
    blocks = (kernel.outChannels + columns - 1) / columns;
    chooseUnits();
  }

  void run() {
    emitZeros();
    emitWork();
    emitKernel();
  }

private:
  struct Range {
    Value begin, end;
  };

  void chooseUnits() {
    int64_t perTileBlock =
        shape.rows * columns * kernel.taps() * kernel.channels;
    int64_t allBlocks = blocks * kernel.groups;
    tilesPerUnit = kTilesPerUnit;
    if (auto pixels = constantValue(pixelsExpr)) {
      int64_t tiles = std::max<int64_t>(1, (*pixels + shape.rows - 1) / shape.rows);
      // Units of one size: a small last one would read all filters again.
      tilesPerUnit = llvm::divideCeil(tiles, llvm::divideCeil(tiles, tilesPerUnit));
    }
    blocksPerUnit = std::clamp<int64_t>(
        kUnitMultiplyAdds / std::max<int64_t>(1, perTileBlock * tilesPerUnit),
        collidesInCache() ? std::min(allBlocks, kBlocksPerCopy) : 1, allBlocks);
    if (blocksPerUnit == allBlocks)
      tilesPerUnit = std::max<int64_t>(
          tilesPerUnit, kUnitMultiplyAdds /
                            std::max<int64_t>(1, perTileBlock * allBlocks));
  }

  Value tileCount() {
    return m.ceilDiv(m.expand(pixelsExpr, sizes), shape.rows);
  }
  int64_t blockUnits() const {
    return (blocks * kernel.groups + blocksPerUnit - 1) / blocksPerUnit;
  }

  std::string zerosName() const { return kernel.name + "_zeros"; }

  /// Padding reads this instead of the input.
  void emitZeros() {
    if (kernel.isPointwise())
      return;
    auto type = LLVM::LLVMArrayType::get(builder.getF32Type(),
                                         kernel.kernelWidth * kernel.channels);
    auto global = LLVM::GlobalOp::create(builder, m.loc, type, /*isConstant=*/true,
                                         LLVM::Linkage::Internal, zerosName(),
                                         Attribute(), /*alignment=*/64);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&global.getInitializer());
    Value zero = LLVM::ZeroOp::create(builder, m.loc, type);
    LLVM::ReturnOp::create(builder, m.loc, zero);
  }

  void emitWork() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = m.beginWork(kernel.name);
    sizes = m.loadSizes(function.getArgument(0), kernel.numDims);
    Value tileUnits = m.ceilDiv(tileCount(), tilesPerUnit);
    func::ReturnOp::create(builder, m.loc,
                           m.mul(tileUnits, m.integer(blockUnits())));
  }

  void emitKernel() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = m.beginKernel(kernel.name);
    Value call = function.getArgument(0);
    sizes = m.loadSizes(m.dimsOf(call), kernel.numDims);
    TileContext context(m, kernel, shape, sizes);
    if (collidesInCache())
      rowMemory = m.stack(shape.rows * TileContext::kCopyStride * 4);
    context.buffers = m.loadBuffers(call, kernel.numBuffers);
    if (!kernel.isPointwise())
      context.zeros = LLVM::AddressOfOp::create(builder, m.loc, m.pointer(), zerosName());
    Value tiles = tileCount();
    m.loop(function.getArgument(1), function.getArgument(2),
           [&](Value unit) { emitUnit(context, unit, tiles); });
    Value ok = arith::ConstantOp::create(builder, m.loc, builder.getI32IntegerAttr(0));
    func::ReturnOp::create(builder, m.loc, ok);
  }

  /// Consecutive units share their pixels, so that these stay in cache.
  void emitUnit(TileContext &context, Value unit, Value tiles) {
    Value perGroup = m.integer(blockUnits());
    Value firstTile = m.mul(m.div(unit, perGroup), m.integer(tilesPerUnit));
    Value lastTile = m.min(m.add(firstTile, m.integer(tilesPerUnit)), tiles);
    Value firstBlock = m.mul(m.rem(unit, perGroup), m.integer(blocksPerUnit));
    Value lastBlock = m.min(m.add(firstBlock, m.integer(blocksPerUnit)),
                            m.integer(blocks * kernel.groups));
    emitTerms([&](Terms terms) {
      if (rowMemory)
        return emitCopied(context, {firstBlock, lastBlock}, {firstTile, lastTile}, terms);
      m.loop(firstBlock, lastBlock,
             [&](Value block) { emitBlock(context, block, {firstTile, lastTile}, terms); });
    });
  }

  /// Some blocks at a time, so that these stay in the second cache while every
  /// tile is copied for them.
  void emitCopied(TileContext &context, Range blockRange, Range tileRange, Terms terms) {
    Value step = m.integer(kBlocksPerCopy);
    Value count = m.sub(blockRange.end, blockRange.begin);
    m.loop(m.integer(0), m.ceilDiv(count, kBlocksPerCopy), [&](Value part) {
      Value first = m.add(blockRange.begin, m.mul(part, step));
      Value last = m.min(m.add(first, step), blockRange.end);
      m.loop(tileRange.begin, tileRange.end, [&](Value tile) {
        context.copyRows(rowMemory, m.mul(tile, m.integer(shape.rows)), terms);
        Range single = {tile, m.add(tile, m.integer(1))};
        m.loop(first, last, [&](Value block) { emitBlock(context, block, single, terms); });
      });
    });
  }

  /// The cache line of a row is needed again and again until its entries are used
  /// up. Rows a large power of two apart compete for the few lines of one set.
  bool collidesInCache() const {
    constexpr int64_t strideBytes = 4096, ways = 8;
    return kernel.isPointwise() && kernel.groups == 1 && shape.rows >= ways &&
           kernel.channels * 4 % strideBytes == 0 && blocks > 1;
  }

  void emitTerms(llvm::function_ref<void(Terms)> body) {
    Value all = m.integer(kernel.channels), step = m.integer(TileContext::kTerms);
    if (!rowMemory && (!kernel.isPointwise() || kernel.channels <= kMostTerms))
      return body({m.integer(0), all, /*areAll=*/true});
    m.loop(m.integer(0), m.ceilDiv(all, TileContext::kTerms), [&](Value part) {
      Value first = m.mul(part, step);
      body({first, m.min(m.sub(all, first), step), /*areAll=*/false});
    });
  }

  void emitBlock(TileContext &context, Value block, Range tileRange, Terms terms) {
    int64_t rest = kernel.outChannels - (blocks - 1) * columns;
    if (rest == columns)
      return emitTiles(context, block, tileRange, columns, terms);
    Value inGroup = m.rem(block, m.integer(blocks));
    m.ifElse(m.equal(inGroup, m.integer(blocks - 1)), {},
             [&] {
               emitTiles(context, block, tileRange, rest, terms);
               return KernelBuilder::Values{};
             },
             [&] {
               if (blocks > 1)
                 emitTiles(context, block, tileRange, columns, terms);
               return KernelBuilder::Values{};
             });
  }

  void emitTiles(TileContext &context, Value block, Range tileRange, int64_t activeColumns,
                 Terms terms) {
    Value group = m.div(block, m.integer(blocks));
    Value column = m.add(
        m.mul(group, m.integer(kernel.outChannels)),
        m.mul(m.rem(block, m.integer(blocks)), m.integer(columns)));
    Value inChannel = m.mul(group, m.integer(kernel.channels));
    Value filter = m.offset(
        context.buffers[kernel.filterBuffer],
        m.mul(block, m.integer(kernel.taps() * kernel.channels * columns)));
    m.loop(tileRange.begin, tileRange.end, [&](Value tile) {
      Tile emitted{context, column, inChannel, filter, activeColumns, terms};
      emitted.emit(m.mul(tile, m.integer(shape.rows)));
    });
  }

  const ContractionKernel &kernel;
  OpBuilder &builder;
  KernelBuilder m;
  AffineExpr pixelsExpr;
  TileShape shape;
  int64_t columns, blocks;
  int64_t tilesPerUnit, blocksPerUnit;
  SmallVector<Value> sizes;
  Value rowMemory; // for copies of a tile's rows, where these collide in the cache
};

} // namespace

void emitContraction(OpBuilder &b, const ContractionKernel &kernel,
                     const VectorIsa &isa) {
  if (kernel.isDepthwise)
    return emitDepthwise(b, kernel, isa);
  Emitter(b, kernel, isa).run();
}

} // namespace dlc::cpu
