#include "compiler/targets/cpu/contraction/MatMul.h"

#include "compiler/targets/cpu/contraction/Panel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Multiply-adds that make a unit of work worth handing to a thread (~20 us).
constexpr int64_t kUnitMultiplyAdds = 1 << 20;
/// Register tiles that share a packed panel before another thread packs it again.
constexpr int64_t kTilesPerUnit = 18;
/// Rows of a panel: two vectors of columns stay within half of a second cache.
constexpr int64_t kPanelRows = 512, kMostPanelRows = 1024;

std::optional<int64_t> constantValue(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

class Emitter {
public:
  using Values = KernelBuilder::Values;

  Emitter(OpBuilder &b, const MatMulKernel &kernel, const VectorIsa &isa)
      : kernel(kernel), builder(b), m(b, b.getUnknownLoc(), isa.lanes) {
    auto columns = constantValue(kernel.columns), rows = constantValue(kernel.rows);
    shape = chooseTile(isa, columns.value_or(INT64_MAX), rows);
    width = shape.vectors * isa.lanes;
    auto inner = constantValue(kernel.inner);
    hasOnePanel = inner && *inner <= kMostPanelRows;
    panelRows = hasOnePanel ? llvm::alignTo(std::max<int64_t>(*inner, 1), isa.lanes) : kPanelRows;
    isWholeColumns = columns && *columns % width == 0;
    // A panel that a single tile reads is not worth packing.
    readsInPlace = rows && *rows <= shape.rows && constantValue(kernel.rhs.columnStride) == 1;
  }

  void run() {
    emitWork();
    emitKernel();
  }

private:
  void readSizes(Value dims) {
    sizes = m.loadSizes(dims, kernel.numDims);
    rows = m.expand(kernel.rows, sizes);
    columns = m.expand(kernel.columns, sizes);
    inner = m.expand(kernel.inner, sizes);
    batch = m.integer(1);
    for (AffineExpr size : kernel.batch)
      batch = m.mul(batch, m.expand(size, sizes));
  }

  /// A unit is some products of one batch, or several whole batches. The cut
  /// depends on sizes alone.
  void chooseUnits() {
    Value one = m.integer(1), budget = m.integer(kUnitMultiplyAdds);
    tiles = m.ceilDiv(rows, shape.rows);
    blocks = m.ceilDiv(columns, width);
    tilesPerUnit = m.max(one, m.min(tiles, m.integer(kTilesPerUnit)));
    Value perBlock = m.mul(m.mul(tilesPerUnit, m.integer(shape.rows * width)), m.max(one, inner));
    blocksPerUnit = m.max(one, m.min(blocks, m.div(budget, perBlock)));
    tileUnits = m.div(m.add(tiles, m.sub(tilesPerUnit, one)), tilesPerUnit);
    blockUnits = m.div(m.add(blocks, m.sub(blocksPerUnit, one)), blocksPerUnit);
    unitsPerBatch = m.mul(tileUnits, blockUnits);
    Value perBatch = m.mul(perBlock, m.max(one, blocks));
    Value several = m.max(one, m.div(budget, perBatch));
    batchesPerUnit = m.select(m.equal(unitsPerBatch, one), several, one);
    batchUnits = m.div(m.add(batch, m.sub(batchesPerUnit, one)), batchesPerUnit);
  }

  void emitWork() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = m.beginWork(kernel.name);
    readSizes(function.getArgument(0));
    chooseUnits();
    func::ReturnOp::create(builder, m.loc, m.mul(batchUnits, unitsPerBatch));
  }

  void emitKernel() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = m.beginKernel(kernel.name);
    Value call = function.getArgument(0);
    readSizes(m.dimsOf(call));
    chooseUnits();
    buffers = m.loadBuffers(call, kernel.numBuffers);
    auto code = [&](int32_t value) {
      return Values{arith::ConstantOp::create(builder, m.loc, builder.getI32IntegerAttr(value))};
    };
    auto work = [&] {
      m.loop(function.getArgument(1), function.getArgument(2),
             [&](Value unit) { emitUnit(unit); });
      return code(0);
    };
    Values result;
    if (readsInPlace) {
      result = work();
    } else {
      panel = m.scratch(call, m.integer(panelRows * width * 4));
      result = m.ifElse(m.isNull(panel), {builder.getI32Type()}, [&] { return code(1); }, work);
    }
    func::ReturnOp::create(builder, m.loc, result);
  }

  /// Consecutive units share their rows.
  void emitUnit(Value unit) {
    auto range = [&](Value index, Value size, Value end) {
      Value first = m.mul(index, size);
      return std::pair(first, m.min(m.add(first, size), end));
    };
    Value inBatch = m.rem(unit, unitsPerBatch);
    auto [firstBatch, lastBatch] = range(m.div(unit, unitsPerBatch), batchesPerUnit, batch);
    auto [firstTile, lastTile] = range(m.div(inBatch, blockUnits), tilesPerUnit, tiles);
    auto [firstBlock, lastBlock] = range(m.rem(inBatch, blockUnits), blocksPerUnit, blocks);
    m.loop(firstBatch, lastBatch, [&](Value number) {
      locateBatch(number);
      m.loop(firstBlock, lastBlock, [&](Value block) {
        column = m.mul(block, m.integer(width));
        active = m.min(m.sub(columns, column), m.integer(width));
        emitPanels(firstTile, lastTile);
      });
    });
  }

  /// Where the matrices of one batch start.
  void locateBatch(Value number) {
    SmallVector<Value> index(kernel.batch.size());
    Value rest = number;
    for (size_t axis = kernel.batch.size(); axis-- > 0;) {
      Value size = m.expand(kernel.batch[axis], sizes);
      index[axis] = axis ? m.rem(rest, size) : rest;
      rest = axis ? m.div(rest, size) : rest;
    }
    auto locate = [&](const MatrixAccess &access) {
      Value offset = m.integer(0);
      for (auto [i, stride] : llvm::zip_equal(index, access.batchStrides))
        offset = m.add(offset, m.mul(i, m.expand(stride, sizes)));
      return m.offset(buffers[access.buffer], offset);
    };
    lhs = locate(kernel.lhs);
    rhs = locate(kernel.rhs);
    output = m.offset(buffers[kernel.outputBuffer], m.mul(number, m.mul(rows, columns)));
    operands.clear();
    for (const MatrixAccess &access : kernel.epilogueOperands)
      operands.push_back(locate(access));
  }

  /// One block of columns, the inner size in steps of a panel.
  void emitPanels(Value firstTile, Value lastTile) {
    if (hasOnePanel)
      return emitPanel(m.integer(0), inner, firstTile, lastTile);
    // Without terms there is still one panel: it writes the epilogue of 0.
    Value panels = m.max(m.integer(1), m.ceilDiv(inner, panelRows));
    m.loop(m.integer(0), panels, [&](Value index) {
      Value first = m.mul(index, m.integer(panelRows));
      Value count = m.min(m.sub(inner, first), m.integer(panelRows));
      emitPanel(first, count, firstTile, lastTile);
    });
  }

  void emitPanel(Value first, Value count, Value firstTile, Value lastTile) {
    Value rowStride = m.expand(kernel.rhs.rowStride, sizes);
    Value columnStride = m.expand(kernel.rhs.columnStride, sizes);
    Value corner = m.offset(rhs, m.add(m.mul(first, rowStride), m.mul(column, columnStride)));
    bool isTransposed = constantValue(kernel.rhs.columnStride) != 1;
    if (!readsInPlace)
      packPanel(m, {corner, isTransposed ? columnStride : rowStride, isTransposed, count, active},
                panel, shape.vectors);
    Value start = readsInPlace ? corner : panel;
    Value step = readsInPlace ? rowStride : m.integer(width);
    m.loop(firstTile, lastTile, [&](Value tile) {
      emitTile(m.mul(tile, m.integer(shape.rows)), first, count, start, step);
    });
  }

  void emitTile(Value firstRow, Value first, Value count, Value start, Value step) {
    Value rowStride = m.expand(kernel.lhs.rowStride, sizes);
    Value innerStride = m.expand(kernel.lhs.columnStride, sizes);
    Values pointers, rowNumbers, masks;
    // The last tile hangs over the end and repeats the last row there.
    for (int64_t row = 0; row < shape.rows; ++row) {
      rowNumbers.push_back(m.add(firstRow, m.integer(row)));
      Value safe = m.min(rowNumbers.back(), m.sub(rows, m.integer(1)));
      pointers.push_back(
          m.offset(lhs, m.add(m.mul(safe, rowStride), m.mul(first, innerStride))));
    }
    for (int64_t v = 0; v < shape.vectors && !isWholeColumns; ++v)
      masks.push_back(m.maskBelow(m.sub(active, m.integer(v * m.lanes))));
    bool isDense = constantValue(kernel.lhs.columnStride) == 1;
    PanelProduct product = {pointers, isDense ? Value() : innerStride, start, step,
                            shape.vectors, count,
                            readsInPlace ? ArrayRef<Value>(masks) : ArrayRef<Value>()};
    Values sums = multiplyPanel(m, product, startValues(rowNumbers, masks, first));
    for (int64_t row = 0; row < shape.rows; ++row) {
      auto values = ArrayRef<Value>(sums).slice(row * shape.vectors, shape.vectors);
      m.ifThen(m.less(rowNumbers[row], rows),
               [&] { storeRow(rowNumbers[row], values, masks, m.add(first, count)); });
    }
  }

  Value resultAddress(Value row, int64_t vector) {
    Value position = m.add(m.mul(row, columns), m.add(column, m.integer(vector * m.lanes)));
    return m.offset(output, position);
  }

  /// Zeros, or what the panels so far have left in the output.
  Values startValues(ArrayRef<Value> rowNumbers, ArrayRef<Value> masks, Value first) {
    Values zero(shape.rows * shape.vectors, m.zeros());
    if (hasOnePanel)
      return zero;
    SmallVector<Type> types(zero.size(), m.vector());
    return m.ifElse(m.equal(first, m.integer(0)), types, [&] { return zero; }, [&] {
      Values partial;
      for (Value row : rowNumbers)
        for (int64_t v = 0; v < shape.vectors; ++v) {
          Value safe = m.min(row, m.sub(rows, m.integer(1)));
          partial.push_back(load(resultAddress(safe, v), masks, v));
        }
      return partial;
    });
  }

  Value load(Value address, ArrayRef<Value> masks, int64_t v) {
    return masks.empty() ? m.loadVector(address, m.lanes) : m.loadMasked(address, masks[v]);
  }

  void storeRow(Value row, ArrayRef<Value> sums, ArrayRef<Value> masks, Value done) {
    auto store = [&](bool isLast) {
      for (auto [v, sum] : llvm::enumerate(sums)) {
        Value value = isLast ? finish(sum, row, masks, v) : sum;
        Value address = resultAddress(row, v);
        if (masks.empty())
          m.storeVector(value, address, m.lanes);
        else
          m.storeMasked(value, address, masks[v]);
      }
      return Values{};
    };
    if (hasOnePanel || !kernel.epilogue)
      store(true);
    else
      m.ifElse(m.equal(done, inner), {}, [&] { return store(true); }, [&] { return store(false); });
  }

  Value finish(Value sum, Value row, ArrayRef<Value> masks, int64_t v) {
    if (!kernel.epilogue)
      return sum;
    Values args = {sum};
    for (auto [base, access] : llvm::zip_equal(operands, kernel.epilogueOperands)) {
      Value at = m.mul(row, m.expand(access.rowStride, sizes));
      if (constantValue(access.columnStride) == 0) {
        args.push_back(m.splat(m.loadFloat(m.offset(base, at))));
        continue;
      }
      at = m.add(at, m.add(column, m.integer(v * m.lanes)));
      args.push_back(load(m.offset(base, at), masks, v));
    }
    return m.applyVectorised(kernel.epilogue, args);
  }

  const MatMulKernel &kernel;
  OpBuilder &builder;
  KernelBuilder m;
  TileShape shape;
  int64_t width, panelRows;
  bool hasOnePanel, isWholeColumns, readsInPlace;
  SmallVector<Value> sizes, buffers, operands;
  Value rows, columns, inner, batch;
  Value tiles, blocks, tilesPerUnit, blocksPerUnit, batchesPerUnit;
  Value tileUnits, blockUnits, unitsPerBatch, batchUnits;
  Value panel, lhs, rhs, output, column, active;
};

} // namespace

void emitMatMul(OpBuilder &b, const MatMulKernel &kernel, const VectorIsa &isa) {
  Emitter(b, kernel, isa).run();
}

} // namespace dlc::cpu
