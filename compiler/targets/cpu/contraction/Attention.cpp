#include "compiler/targets/cpu/contraction/Attention.h"

#include "compiler/targets/cpu/contraction/Panel.h"
#include "compiler/targets/cpu/contraction/RowMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace dlc::cpu {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Query rows of a unit of work: they share the packed keys.
constexpr int64_t kRowsPerUnit = 128;
/// Floats of a packed block of keys, and the most keys in one.
constexpr int64_t kBlockFloats = 1 << 14, kMostBlockKeys = 256;
/// Keeps the rows of the scores in different sets of the cache.
constexpr int64_t kScorePadding = 16;

std::optional<int64_t> constantValue(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

class Emitter {
public:
  using Values = KernelBuilder::Values;

  Emitter(OpBuilder &b, const AttentionKernel &kernel, const VectorIsa &isa)
      : kernel(kernel), builder(b), m(b, b.getUnknownLoc(), isa.lanes), math(m) {
    auto rows = constantValue(kernel.rows), keys = constantValue(kernel.keys);
    shape = chooseTile(isa, INT64_MAX, rows);
    width = shape.vectors * isa.lanes;
    depth = llvm::alignTo(kernel.headSize, isa.lanes);
    outStride = llvm::alignTo(kernel.valueSize, isa.lanes);
    blockKeys = std::clamp<int64_t>(kBlockFloats / depth, width, kMostBlockKeys) / width * width;
    tilesPerUnit = std::max<int64_t>(1, kRowsPerUnit / shape.rows);
    if (rows && *rows > 0) {
      int64_t tiles = llvm::divideCeil(*rows, shape.rows);
      tilesPerUnit = llvm::divideCeil(tiles, llvm::divideCeil(tiles, tilesPerUnit));
    }
    isWholeKeys = keys && *keys % width == 0;
    isOneBlock = keys && *keys <= blockKeys;
  }

  void run() {
    emitWork();
    emitKernel();
  }

private:
  int64_t unitRows() const { return tilesPerUnit * shape.rows; }
  int64_t scoreStride() const { return blockKeys + kScorePadding; }

  void readSizes(Value dims) {
    sizes = m.loadSizes(dims, kernel.numDims);
    rows = m.expand(kernel.rows, sizes);
    keys = m.expand(kernel.keys, sizes);
    heads = m.expand(kernel.heads, sizes);
    tiles = m.ceilDiv(rows, shape.rows);
    rowUnits = m.ceilDiv(tiles, tilesPerUnit);
  }

  void emitWork() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = m.beginWork(kernel.name);
    readSizes(function.getArgument(0));
    Value all = m.mul(m.expand(kernel.batch, sizes), heads);
    func::ReturnOp::create(builder, m.loc, m.mul(all, rowUnits));
  }

  void emitKernel() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = m.beginKernel(kernel.name);
    Value call = function.getArgument(0);
    readSizes(m.dimsOf(call));
    buffers = m.loadBuffers(call, kernel.numBuffers);
    auto code = [&](int32_t value) {
      return Values{arith::ConstantOp::create(builder, m.loc, builder.getI32IntegerAttr(value))};
    };
    int64_t panelSize = blockKeys * depth, scoresSize = shape.rows * scoreStride();
    int64_t sumsSize = unitRows() * outStride;
    Value memory =
        m.scratch(call, m.integer((panelSize + scoresSize + sumsSize + 2 * unitRows()) * 4));
    panel = memory;
    scores = m.offset(memory, m.integer(panelSize));
    sums = m.offset(scores, m.integer(scoresSize));
    most = m.offset(sums, m.integer(sumsSize));
    total = m.offset(most, m.integer(unitRows()));
    Values result = m.ifElse(m.isNull(memory), {builder.getI32Type()}, [&] { return code(1); }, [&] {
      m.loop(function.getArgument(1), function.getArgument(2), [&](Value unit) { emitUnit(unit); });
      return code(0);
    });
    func::ReturnOp::create(builder, m.loc, result);
  }

  Value locate(const MatrixAccess &access, Value batch, Value head, int64_t elementBytes = 4) {
    Value offset = m.add(m.mul(batch, m.expand(access.batchStrides[0], sizes)),
                         m.mul(head, m.expand(access.batchStrides[1], sizes)));
    return m.offset(buffers[access.buffer], offset, elementBytes);
  }

  /// Some rows of one head, against all keys.
  void emitUnit(Value unit) {
    Value number = m.div(unit, rowUnits), batch = m.div(number, heads), head = m.rem(number, heads);
    Value keyHead = m.div(head, m.integer(kernel.headsPerKey));
    query = locate(kernel.query, batch, head);
    key = locate(kernel.key, batch, keyHead);
    value = locate(kernel.value, batch, keyHead);
    if (kernel.mask)
      mask = locate(*kernel.mask, batch, head, 1);
    if (kernel.bias)
      bias = locate(*kernel.bias, batch, head);
    output = m.offset(buffers[kernel.outputBuffer],
                      m.mul(m.mul(number, rows), m.integer(kernel.valueSize)));
    Value firstTile = m.mul(m.rem(unit, rowUnits), m.integer(tilesPerUnit));
    unitTiles = m.min(m.sub(tiles, firstTile), m.integer(tilesPerUnit));
    firstRow = m.mul(firstTile, m.integer(shape.rows));
    startRows();
    Value blocks = m.max(m.integer(1), m.ceilDiv(keys, blockKeys));
    if (kernel.isCausal) { // keys after the last row count for none
      Value end = m.min(m.add(firstRow, m.mul(unitTiles, m.integer(shape.rows))), rows);
      blocks = m.min(blocks, m.ceilDiv(end, blockKeys));
    }
    m.loop(m.integer(0), blocks, [&](Value block) { emitBlock(block); });
    finishRows();
  }

  void startRows() {
    Value lowest = math.constant(-kInfinity), zero = math.constant(0);
    m.loop(m.integer(0), m.integer(unitRows()), [&](Value row) {
      math.storeScalar(lowest, m.offset(most, row));
      math.storeScalar(zero, m.offset(total, row));
    });
  }

  void emitBlock(Value block) {
    firstKey = m.mul(block, m.integer(blockKeys));
    count = m.min(m.sub(keys, firstKey), m.integer(blockKeys));
    panels = m.ceilDiv(count, width);
    isFirst = m.equal(block, m.integer(0));
    Value stride = m.expand(kernel.key.rowStride, sizes);
    m.loop(m.integer(0), panels, [&](Value index) {
      Value column = m.mul(index, m.integer(width));
      Value corner = m.offset(key, m.mul(m.add(firstKey, column), stride));
      Value columns = m.min(m.sub(count, column), m.integer(width));
      packPanel(m, {corner, stride, /*isTransposed=*/true, m.integer(kernel.headSize), columns},
                panelAt(index), shape.vectors);
    });
    m.loop(m.integer(0), unitTiles, [&](Value tile) {
      tileRow = m.mul(tile, m.integer(shape.rows));
      emitScores();
      m.loop(m.integer(0), m.integer(shape.rows), [&](Value row) { emitSoftmax(row); });
      emitSums();
    });
  }

  Value panelAt(Value index) { return m.offset(panel, m.mul(index, m.integer(depth * width))); }

  /// The row of the query, or the last one where the tile hangs over the end.
  Value rowNumber(int64_t row) {
    Value number = m.add(m.add(firstRow, tileRow), m.integer(row));
    return m.min(number, m.sub(rows, m.integer(1)));
  }

  void emitScores() {
    Values pointers, numbers;
    for (int64_t row = 0; row < shape.rows; ++row) {
      numbers.push_back(rowNumber(row));
      pointers.push_back(
          m.offset(query, m.mul(numbers.back(), m.expand(kernel.query.rowStride, sizes))));
    }
    m.loop(m.integer(0), panels, [&](Value index) {
      Values zero(shape.rows * shape.vectors, m.zeros());
      Values products = multiplyPanel(m, {pointers, Value(), panelAt(index), m.integer(width),
                                          shape.vectors, m.integer(kernel.headSize)},
                                      zero);
      for (int64_t row = 0; row < shape.rows; ++row)
        for (int64_t v = 0; v < shape.vectors; ++v) {
          Value column = m.add(m.mul(index, m.integer(width)), m.integer(v * m.lanes));
          Value x = finishScore(products[row * shape.vectors + v], numbers[row], column);
          Value at = m.add(m.integer(row * scoreStride()), column);
          m.storeVector(x, m.offset(scores, at), m.lanes);
        }
    });
  }

  /// Scale, cap, bias and masks. `column` counts within the block.
  Value finishScore(Value x, Value row, Value column) {
    Value lowest = math.splat(-kInfinity), exists;
    if (!isWholeKeys)
      exists = m.maskBelow(m.sub(count, column));
    x = math.multiply(x, math.splat(kernel.scale));
    if (kernel.softcap > 0) {
      x = math.tanh(math.multiply(x, math.splat(1 / kernel.softcap)));
      x = math.multiply(x, math.splat(kernel.softcap));
    }
    Value position = m.add(firstKey, column);
    auto locate = [&](Value base, const MatrixAccess &access, int64_t bytes) {
      Value at = m.mul(row, m.expand(access.rowStride, sizes));
      bool isColumn = constantValue(access.columnStride) != 0;
      return std::pair(m.offset(base, isColumn ? m.add(at, position) : at, bytes), isColumn);
    };
    if (kernel.bias) {
      auto [address, isColumn] = locate(bias, *kernel.bias, 4);
      x = math.add(x, !isColumn ? m.splat(m.loadFloat(address))
                      : exists  ? m.loadMasked(address, exists)
                                : m.loadVector(address, m.lanes));
    }
    if (kernel.mask) {
      auto [address, isColumn] = locate(mask, *kernel.mask, 1);
      Value keep = isColumn ? math.loadFlags(address, exists) : math.loadFlag(address);
      x = m.select(keep, x, math.splat(kernel.maskedValue));
    }
    if (kernel.isCausal)
      x = m.select(m.maskBelow(m.sub(m.add(row, m.integer(1)), position)), x, lowest);
    return exists ? m.select(exists, x, lowest) : x;
  }

  /// Scores to weights relative to the largest score so far, and what the row
  /// has summed up to the same scale.
  void emitSoftmax(Value row) {
    Value line = m.offset(scores, m.mul(row, m.integer(scoreStride())));
    Value vectors = m.mul(panels, m.integer(shape.vectors)), first = m.integer(0);
    auto at = [&](Value v) { return m.offset(line, m.mul(v, m.integer(m.lanes))); };
    Value largest = m.loop(first, vectors, {math.splat(-kInfinity)}, [&](Value v, ArrayRef<Value> x) {
      return Values{math.maximum(x[0], m.loadVector(at(v), m.lanes))};
    })[0];
    Value number = m.add(tileRow, row);
    Value mostAt = m.offset(most, number), totalAt = m.offset(total, number);
    Value now = math.reduceMaximum(largest), before;
    if (!isOneBlock) {
      before = m.loadFloat(mostAt);
      now = math.maximum(before, now);
    }
    // A row of -inf alone has no weight anywhere.
    Value base = m.select(math.isEqual(now, math.constant(-kInfinity)), math.constant(0), now);
    Value offset = m.splat(base);
    Value added = m.loop(first, vectors, {m.zeros()}, [&](Value v, ArrayRef<Value> x) {
      Value weight = math.expNonPositive(math.subtract(m.loadVector(at(v), m.lanes), offset));
      m.storeVector(weight, at(v), m.lanes);
      return Values{math.add(x[0], weight)};
    })[0];
    Value sum = math.reduceAdd(added);
    math.storeScalar(now, mostAt);
    if (isOneBlock)
      return math.storeScalar(sum, totalAt);
    Value shrink = math.expNonPositive(m.splat(math.subtract(before, base)));
    Value carried = math.multiply(m.loadFloat(totalAt), math.firstLane(shrink));
    math.storeScalar(math.add(carried, sum), totalAt);
    Value kept = sumsAt(number);
    m.ifElse(isFirst, {}, [] { return Values{}; }, [&] {
      m.loop(first, m.integer(outStride / m.lanes), [&](Value v) {
        Value address = m.offset(kept, m.mul(v, m.integer(m.lanes)));
        m.storeVector(math.multiply(m.loadVector(address, m.lanes), shrink), address, m.lanes);
      });
      return Values{};
    });
  }

  Value sumsAt(Value row) { return m.offset(sums, m.mul(row, m.integer(outStride))); }

  /// sums += weights * value, a panel of the value's columns at a time.
  void emitSums() {
    int64_t whole = kernel.valueSize / width, rest = kernel.valueSize % width;
    m.loop(m.integer(0), m.integer(whole), [&](Value index) {
      emitSumPanel(m.mul(index, m.integer(width)), shape.vectors, {});
    });
    if (!rest)
      return;
    Values masks;
    for (int64_t done = 0; done < rest; done += m.lanes)
      masks.push_back(m.maskBelow(m.integer(rest - done)));
    emitSumPanel(m.integer(whole * width), masks.size(), masks);
  }

  void emitSumPanel(Value column, int64_t vectors, ArrayRef<Value> masks) {
    Value stride = m.expand(kernel.value.rowStride, sizes);
    Value start = m.offset(value, m.add(m.mul(firstKey, stride), column));
    Values weights, sumRows;
    for (int64_t row = 0; row < shape.rows; ++row) {
      weights.push_back(m.offset(scores, m.integer(row * scoreStride())));
      sumRows.push_back(m.offset(sumsAt(m.add(tileRow, m.integer(row))), column));
    }
    Values zero(shape.rows * vectors, m.zeros()), initial = zero;
    auto address = [&](int64_t row, int64_t v) {
      return m.offset(sumRows[row], m.integer(v * m.lanes));
    };
    if (!isOneBlock) {
      SmallVector<Type> types(zero.size(), m.vector());
      initial = m.ifElse(isFirst, types, [&] { return zero; }, [&] {
        Values kept;
        for (int64_t row = 0; row < shape.rows; ++row)
          for (int64_t v = 0; v < vectors; ++v)
            kept.push_back(m.loadVector(address(row, v), m.lanes));
        return kept;
      });
    }
    Values result =
        multiplyPanel(m, {weights, Value(), start, stride, vectors, count, masks}, initial);
    for (int64_t row = 0; row < shape.rows; ++row)
      for (int64_t v = 0; v < vectors; ++v)
        m.storeVector(result[row * vectors + v], address(row, v), m.lanes);
  }

  void finishRows() {
    Value end = m.min(m.sub(rows, firstRow), m.mul(unitTiles, m.integer(shape.rows)));
    m.loop(m.integer(0), end, [&](Value row) {
      Value divisor = m.splat(m.loadFloat(m.offset(total, row)));
      // The sum over no keys is 0.
      Value isEmpty = m.equal(keys, m.integer(0));
      if (kernel.zeroesEmptyRows)
        isEmpty = math.isEqual(m.loadFloat(m.offset(most, row)), math.constant(-kInfinity));
      Value to = m.offset(output, m.mul(m.add(firstRow, row), m.integer(kernel.valueSize)));
      for (int64_t done = 0; done < kernel.valueSize; done += m.lanes) {
        Value sum = m.loadVector(m.offset(sumsAt(row), m.integer(done)), m.lanes);
        Value result = m.select(isEmpty, m.zeros(), math.divide(sum, divisor));
        m.storeVector(result, m.offset(to, m.integer(done)),
                      std::min(m.lanes, kernel.valueSize - done));
      }
    });
  }

  const AttentionKernel &kernel;
  OpBuilder &builder;
  KernelBuilder m;
  RowMath math;
  TileShape shape;
  int64_t width, depth, outStride, blockKeys, tilesPerUnit;
  bool isWholeKeys, isOneBlock;
  SmallVector<Value> sizes, buffers;
  Value rows, keys, heads, tiles, rowUnits;               // of the call
  Value panel, scores, sums, most, total;                 // scratch
  Value query, key, value, mask, bias, output;            // of the unit
  Value firstRow, unitTiles;
  Value firstKey, count, panels, isFirst;                 // of the block
  Value tileRow;                                          // of the tile
};

} // namespace

void emitAttention(OpBuilder &b, const AttentionKernel &kernel, const VectorIsa &isa) {
  Emitter(b, kernel, isa).run();
}

} // namespace dlc::cpu
