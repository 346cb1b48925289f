// Depthwise convolution: vectors run along the channels, a unit of work is one
// row of output pixels, and each pixel keeps a block of channels in registers
// while it visits the taps inside the image.

#include "compiler/targets/cpu/contraction/Contraction.h"
#include "compiler/targets/cpu/contraction/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Channel vectors that one pixel accumulates at a time.
constexpr int64_t kBlockVectors = 8;

class DepthwiseEmitter {
public:
  DepthwiseEmitter(OpBuilder &b, const ContractionKernel &kernel, const VectorIsa &isa)
      : k(kernel), b(b), m(b, b.getUnknownLoc(), isa.lanes) {}

  void run() {
    emitWork();
    emitKernel();
  }

private:
  using Values = KernelBuilder::Values;

  void readSizes(Value dims) {
    Values sizes = m.loadSizes(dims, k.numDims);
    batch = m.expand(k.batch, sizes);
    inHeight = m.expand(k.inHeight, sizes);
    inWidth = m.expand(k.inWidth, sizes);
    outHeight = m.expand(k.outHeight, sizes);
    outWidth = m.expand(k.outWidth, sizes);
  }

  void emitWork() {
    OpBuilder::InsertionGuard guard(b);
    func::FuncOp function = m.beginWork(k.name);
    readSizes(function.getArgument(0));
    func::ReturnOp::create(b, m.loc, m.mul(batch, outHeight));
  }

  void emitKernel() {
    OpBuilder::InsertionGuard guard(b);
    func::FuncOp function = m.beginKernel(k.name);
    Value call = function.getArgument(0);
    readSizes(m.dimsOf(call));
    buffers = m.loadBuffers(call, k.numBuffers);
    m.loop(function.getArgument(1), function.getArgument(2), [&](Value row) { emitRow(row); });
    Value ok = arith::ConstantOp::create(b, m.loc, b.getI32IntegerAttr(0));
    func::ReturnOp::create(b, m.loc, ok);
  }

  /// The first tap inside the image and the one past the last.
  std::pair<Value, Value> tapRange(Value start, Value size, int64_t taps, int64_t dilation) {
    // taps i with 0 <= start + i*dilation < size
    Value zero = m.integer(0), step = m.integer(dilation);
    Value below = m.sub(zero, start);
    Value first = m.select(m.less(start, zero), m.div(m.add(below, m.integer(dilation - 1)), step), zero);
    Value room = m.sub(size, start);
    Value last = m.select(m.less(zero, room), m.div(m.add(room, m.integer(dilation - 1)), step), zero);
    return {first, m.min(last, m.integer(taps))};
  }

  void emitRow(Value row) {
    Value image = m.div(row, outHeight), y = m.rem(row, outHeight);
    Value top = m.sub(m.mul(y, m.integer(k.strideHeight)), m.integer(k.padTop));
    auto [firstRow, lastRow] = tapRange(top, inHeight, k.kernelHeight, k.dilationHeight);
    m.loop(m.integer(0), outWidth, [&, firstRow = firstRow, lastRow = lastRow](Value x) {
      Value left = m.sub(m.mul(x, m.integer(k.strideWidth)), m.integer(k.padLeft));
      auto [firstColumn, lastColumn] = tapRange(left, inWidth, k.kernelWidth, k.dilationWidth);
      Taps taps{image, top, left, firstRow, lastRow, firstColumn, lastColumn,
                m.add(m.mul(row, outWidth), x)};
      emitPixel(taps);
    });
  }

  struct Taps {
    Value image, top, left, firstRow, lastRow, firstColumn, lastColumn, pixel;
  };

  /// All channels: whole blocks in a loop, then what is left.
  void emitPixel(const Taps &taps) {
    int64_t block = kBlockVectors * m.lanes, whole = k.channels / block;
    if (whole > 0)
      m.loop(m.integer(0), m.integer(whole), [&](Value i) {
        emitBlock(taps, m.mul(i, m.integer(block)), block);
      });
    if (int64_t rest = k.channels % block)
      emitBlock(taps, m.integer(whole * block), rest);
  }

  void emitBlock(const Taps &taps, Value channel, int64_t count) {
    int64_t vectors = (count + m.lanes - 1) / m.lanes;
    auto active = [&](int64_t v) { return std::min(m.lanes, count - v * m.lanes); };
    Value channels = m.integer(k.channels);
    Values sums = m.loop(
        taps.firstRow, taps.lastRow, Values(vectors, m.zeros()),
        [&](Value i, ArrayRef<Value> outer) {
          Value y = m.add(taps.top, m.mul(i, m.integer(k.dilationHeight)));
          Value line = m.mul(m.add(m.mul(taps.image, inHeight), y), inWidth);
          return m.loop(
              taps.firstColumn, taps.lastColumn, outer, [&](Value j, ArrayRef<Value> carried) {
                Value x = m.add(taps.left, m.mul(j, m.integer(k.dilationWidth)));
                Value in = m.add(m.mul(m.add(line, x), channels), channel);
                Value tap = m.add(m.mul(i, m.integer(k.kernelWidth)), j);
                Value weight = m.add(m.mul(tap, channels), channel);
                Values result;
                for (int64_t v = 0; v < vectors; ++v) {
                  Value lane = m.integer(v * m.lanes);
                  Value a = m.loadVector(m.offset(buffers[k.inputBuffer], m.add(in, lane)), active(v));
                  Value w = m.loadVector(m.offset(buffers[k.filterBuffer], m.add(weight, lane)), active(v));
                  result.push_back(m.fma(a, w, carried[v]));
                }
                return result;
              });
        });
    Value at = m.add(m.mul(taps.pixel, channels), channel);
    for (int64_t v = 0; v < vectors; ++v) {
      Value lane = m.integer(v * m.lanes);
      Value value = applyEpilogue(m, k, buffers, sums[v], m.add(at, lane), m.add(channel, lane), active(v));
      m.storeVector(value, m.offset(buffers[k.outputBuffer], m.add(at, lane)), active(v));
    }
  }

  const ContractionKernel &k;
  OpBuilder &b;
  KernelBuilder m;
  Values buffers;
  Value batch, inHeight, inWidth, outHeight, outWidth;
};

} // namespace

void emitDepthwise(OpBuilder &b, const ContractionKernel &kernel, const VectorIsa &isa) {
  DepthwiseEmitter(b, kernel, isa).run();
}

} // namespace dlc::cpu
