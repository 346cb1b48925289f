#include "compiler/targets/cpu/contraction/Tile.h"

#include "compiler/targets/cpu/contraction/Panel.h"

using namespace mlir;

namespace dlc::cpu {

TileContext::TileContext(KernelBuilder &m, const ContractionKernel &kernel,
                         TileShape shape, ArrayRef<Value> sizes)
    : m(m), kernel(kernel), shape(shape) {
  inHeight = m.expand(kernel.inHeight, sizes);
  inWidth = m.expand(kernel.inWidth, sizes);
  outHeight = m.expand(kernel.outHeight, sizes);
  outWidth = m.expand(kernel.outWidth, sizes);
  pixels = m.expand(kernel.batch * kernel.outHeight * kernel.outWidth, sizes);
}

Value TileContext::lastOr(Value pixel) { return m.min(pixel, m.sub(pixels, m.integer(1))); }

KernelBuilder::Values TileContext::pixelRows(Value firstPixel, Value channel) {
  Value stride = m.integer(kernel.channels * kernel.groups);
  Value input = m.offset(buffers[kernel.inputBuffer], channel);
  KernelBuilder::Values rows;
  for (int64_t row = 0; row < shape.rows; ++row)
    rows.push_back(m.offset(input, m.mul(lastOr(m.add(firstPixel, m.integer(row))), stride)));
  return rows;
}

void TileContext::copyRows(Value memory, Value firstPixel, const Terms &terms) {
  copies.clear();
  for (auto [number, row] : llvm::enumerate(pixelRows(firstPixel, terms.first))) {
    Value to = m.offset(memory, m.integer(number * kCopyStride));
    m.loop(m.integer(0), m.ceilDiv(terms.count, m.lanes), [&](Value vector) {
      Value at = m.mul(vector, m.integer(m.lanes));
      m.storeVector(m.loadVector(m.offset(row, at), m.lanes), m.offset(to, at), m.lanes);
    });
    copies.push_back(to);
  }
}

int64_t Tile::vectors() const {
  return (activeColumns + c.m.lanes - 1) / c.m.lanes;
}

int64_t Tile::activeLanes(int64_t vector) const {
  return std::min(c.m.lanes, activeColumns - vector * c.m.lanes);
}

void Tile::emit(Value firstPixel) {
  Values accumulators = c.kernel.isPointwise()
                            ? accumulatePointwise(firstPixel)
                            : accumulateConvolution(firstPixel);
  for (int64_t row = 0; row < c.shape.rows; ++row) {
    Value pixel = c.m.add(firstPixel, c.m.integer(row));
    auto rowValues = ArrayRef<Value>(accumulators)
                         .slice(row * vectors(), vectors());
    // The last tile hangs over the end; what hangs over is not stored.
    c.m.ifThen(c.m.less(pixel, c.pixels), [&] { storeRow(pixel, rowValues); });
  }
}

/// accumulators += rows[:, 0:count] * filter[filterStart:, 0:columns]
Tile::Values Tile::multiply(ArrayRef<Value> rows, Value filterStart, Value count,
                            ArrayRef<Value> accumulators) {
  Value columns = c.m.integer(c.shape.vectors * c.m.lanes);
  return multiplyPanel(c.m, {rows, Value(), filterStart, columns, vectors(), count}, accumulators);
}

Tile::Values Tile::accumulatePointwise(Value firstPixel) {
  KernelBuilder &m = c.m;
  Values rows = c.copies;
  if (rows.empty())
    rows = c.pixelRows(firstPixel, m.add(inChannel, terms.first));
  Value columns = m.integer(c.shape.vectors * m.lanes);
  return multiply(rows, m.offset(filter, m.mul(terms.first, columns)), terms.count,
                  startValues(firstPixel));
}

/// Zeros, or what the terms so far have left in the output.
Tile::Values Tile::startValues(Value firstPixel) {
  KernelBuilder &m = c.m;
  Values zero(c.shape.rows * vectors(), m.zeros());
  if (terms.areAll)
    return zero;
  SmallVector<Type> types(zero.size(), m.vector());
  return m.ifElse(m.equal(terms.first, m.integer(0)), types, [&] { return zero; }, [&] {
    Values partial;
    for (int64_t row = 0; row < c.shape.rows; ++row)
      for (int64_t v = 0; v < vectors(); ++v) {
        Value at = outputElement(c.lastOr(m.add(firstPixel, m.integer(row))), v);
        partial.push_back(
            m.loadVector(m.offset(c.buffers[c.kernel.outputBuffer], at), activeLanes(v)));
      }
    return partial;
  });
}

/// The windows of consecutive pixels: one division for the first, then counting.
SmallVector<Tile::Window> Tile::windows(Value firstPixel) {
  KernelBuilder &m = c.m;
  const ContractionKernel &k = c.kernel;
  Value zero = m.integer(0), one = m.integer(1);
  Value x = m.rem(firstPixel, c.outWidth);
  Value line = m.div(firstPixel, c.outWidth);
  Value y = m.rem(line, c.outHeight), image = m.div(line, c.outHeight);
  SmallVector<Window> result;
  for (int64_t row = 0; row < c.shape.rows; ++row) {
    result.push_back({m.sub(m.mul(y, m.integer(k.strideHeight)), m.integer(k.padTop)),
                      m.sub(m.mul(x, m.integer(k.strideWidth)), m.integer(k.padLeft)),
                      image});
    Value nextX = m.add(x, one);
    Value wrapX = m.equal(nextX, c.outWidth);
    Value nextY = m.add(y, one);
    Value wrapY = m.both(wrapX, m.equal(nextY, c.outHeight));
    // Pixels past the end stay on the last one.
    Value more = m.less(m.add(firstPixel, m.integer(row + 1)), c.pixels);
    x = m.select(more, m.select(wrapX, zero, nextX), x);
    y = m.select(more, m.select(wrapY, zero, m.select(wrapX, nextY, y)), y);
    image = m.select(m.both(more, wrapY), m.add(image, one), image);
  }
  return result;
}

Value Tile::inputAddress(const Window &window, Value y, Value x) {
  KernelBuilder &m = c.m;
  Value line = m.add(m.mul(window.image, c.inHeight), y);
  Value pixel = m.add(m.mul(line, c.inWidth), x);
  Value stride = m.integer(c.kernel.channels * c.kernel.groups);
  return m.offset(c.buffers[c.kernel.inputBuffer],
                  m.add(m.mul(pixel, stride), inChannel));
}

/// For one tap, the address of every row's input, or of zeros in the padding.
/// A null column means the whole kernel row, known to be inside.
Tile::Values Tile::rowPointers(ArrayRef<Window> windows, Value kernelRow,
                               Value kernelColumn) {
  KernelBuilder &m = c.m;
  Values result;
  Value dy = m.mul(kernelRow, m.integer(c.kernel.dilationHeight));
  for (const Window &window : windows) {
    Value y = m.add(window.top, dy), x = window.left;
    Value inside = m.inside(y, c.inHeight);
    if (kernelColumn) {
      x = m.add(x, m.mul(kernelColumn, m.integer(c.kernel.dilationWidth)));
      inside = m.both(inside, m.inside(x, c.inWidth));
    }
    result.push_back(m.select(inside, inputAddress(window, y, x), c.zeros));
  }
  return result;
}

Tile::Values Tile::accumulateConvolution(Value firstPixel) {
  KernelBuilder &m = c.m;
  const ContractionKernel &k = c.kernel;
  SmallVector<Window> where = windows(firstPixel);
  Values zero(c.shape.rows * vectors(), m.zeros());
  SmallVector<Type> types(zero.size(), m.vector());
  int64_t rowTaps = k.kernelWidth * k.channels;
  int64_t columns = c.shape.vectors * m.lanes;
  auto filterAt = [&](Value row, Value column) {
    Value tap = m.add(m.mul(row, m.integer(k.kernelWidth)), column);
    return m.offset(filter, m.mul(tap, m.integer(k.channels * columns)));
  };
  // A kernel row that lies inside the image is one run of memory.
  auto whole = [&] {
    return m.loop(m.integer(0), m.integer(k.kernelHeight), zero,
                  [&](Value row, ArrayRef<Value> carried) {
                    Values rows = rowPointers(where, row, Value());
                    return multiply(rows, filterAt(row, m.integer(0)),
                                    m.integer(rowTaps), carried);
                  });
  };
  auto byTap = [&] {
    return m.loop(
        m.integer(0), m.integer(k.kernelHeight), zero,
        [&](Value row, ArrayRef<Value> outer) {
          return m.loop(m.integer(0), m.integer(k.kernelWidth), outer,
                        [&](Value column, ArrayRef<Value> carried) {
                          Values rows = rowPointers(where, row, column);
                          return multiply(rows, filterAt(row, column),
                                          m.integer(k.channels), carried);
                        });
        });
  };
  if (k.dilationWidth != 1 || k.groups != 1 || k.kernelWidth == 1)
    return byTap();
  Value inside;
  for (const Window &window : where) {
    Value last = m.add(window.left, m.integer(k.kernelWidth - 1));
    Value fits = m.both(m.inside(window.left, c.inWidth), m.inside(last, c.inWidth));
    inside = inside ? m.both(inside, fits) : fits;
  }
  return m.ifElse(inside, types, whole, byTap);
}

Value Tile::outputElement(Value pixel, int64_t vector) {
  KernelBuilder &m = c.m;
  Value rowStart = m.mul(pixel, m.integer(c.kernel.outChannels * c.kernel.groups));
  return m.add(m.add(rowStart, column), m.integer(vector * m.lanes));
}

void Tile::storeRow(Value pixel, ArrayRef<Value> accumulators) {
  KernelBuilder &m = c.m;
  auto store = [&](bool isFinal) {
    for (auto [v, accumulator] : llvm::enumerate(accumulators)) {
      int64_t active = activeLanes(v);
      Value at = outputElement(pixel, v), channel = m.add(column, m.integer(v * m.lanes));
      Value value = accumulator;
      if (isFinal)
        value = applyEpilogue(m, c.kernel, c.buffers, accumulator, at, channel, active);
      m.storeVector(value, m.offset(c.buffers[c.kernel.outputBuffer], at), active);
    }
    return Values{};
  };
  if (terms.areAll || !c.kernel.epilogue) {
    store(true);
    return;
  }
  Value isFinal = m.equal(m.add(terms.first, terms.count), m.integer(c.kernel.channels));
  m.ifElse(isFinal, {}, [&] { return store(true); }, [&] { return store(false); });
}

} // namespace dlc::cpu
