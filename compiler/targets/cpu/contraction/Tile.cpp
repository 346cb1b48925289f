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
  Value stride = m.integer(c.kernel.channels * c.kernel.groups);
  Value input = m.offset(c.buffers[c.kernel.inputBuffer], inChannel);
  Values zero(c.shape.rows * vectors(), m.zeros());
  SmallVector<Type> types(zero.size(), m.vector());
  Value count = m.integer(c.kernel.channels);
  Value isWhole = m.less(m.add(firstPixel, m.integer(c.shape.rows - 1)), c.pixels);
  auto run = [&](bool clamp) {
    Values rows;
    Value first = m.offset(input, m.mul(firstPixel, stride));
    for (int64_t row = 0; row < c.shape.rows; ++row) {
      if (!clamp) {
        rows.push_back(m.offset(first, m.mul(stride, m.integer(row))));
        continue;
      }
      Value pixel = m.min(m.add(firstPixel, m.integer(row)),
                          m.sub(c.pixels, m.integer(1)));
      rows.push_back(m.offset(input, m.mul(pixel, stride)));
    }
    return multiply(rows, filter, count, zero);
  };
  return m.ifElse(isWhole, types, [&] { return run(false); },
                  [&] { return run(true); });
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

void Tile::storeRow(Value pixel, ArrayRef<Value> accumulators) {
  KernelBuilder &m = c.m;
  const ContractionKernel &k = c.kernel;
  Value rowStart = m.add(m.mul(pixel, m.integer(k.outChannels * k.groups)), column);
  for (auto [v, accumulator] : llvm::enumerate(accumulators)) {
    int64_t active = activeLanes(v);
    Value lane = m.integer(v * m.lanes);
    Value at = m.add(rowStart, lane);
    Value value = applyEpilogue(m, k, c.buffers, accumulator, at, m.add(column, lane), active);
    m.storeVector(value, m.offset(c.buffers[k.outputBuffer], at), active);
  }
}

} // namespace dlc::cpu
