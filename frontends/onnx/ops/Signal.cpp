// Windows and Fourier transforms, as arithmetic and dense sums.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Resample.h"

#include <numbers>

using namespace mlir;

namespace dlc::onnx {

namespace {

/// w[n] = a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), N the size or one less.
LogicalResult cosineWindow(NodeContext &c, double a0, double a1, double a2) {
  ShapeTools s{c};
  Type result = c.elementTypeAttr("output_datatype", c.b.getF32Type());
  if (!result)
    return failure();
  if (!isa<FloatType>(result))
    return c.unsupported("an output_datatype that is not float");
  Type type = result.isF64() ? result : Type(c.b.getF32Type());
  Value size = s.vector(c.input(0));
  Value index = c.cast(s.iota(size), type), length = c.cast(size, type);
  if (!c.intAttr("periodic", 1))
    length = c.make<dl::SubOp>(length, c.scalar(type, 1));
  Value turn = c.make<dl::DivOp>(index, length);
  auto wave = [&](double factor, double turns) -> Value {
    Value angle = c.make<dl::MulOp>(turn, c.scalar(type, turns * 2 * std::numbers::pi));
    return c.make<dl::MulOp>(c.make<dl::CosOp>(angle), c.scalar(type, factor));
  };
  Value window = c.make<dl::SubOp>(c.scalar(type, a0), wave(a1, 1));
  if (a2 != 0)
    window = c.make<dl::AddOp>(window, wave(a2, 2));
  return c.done(c.cast(window, result));
}

LogicalResult hannWindow(NodeContext &c) { return cosineWindow(c, 0.5, 0.5, 0); }
LogicalResult hammingWindow(NodeContext &c) {
  return cosineWindow(c, 25.0 / 46, 21.0 / 46, 0);
}
LogicalResult blackmanWindow(NodeContext &c) { return cosineWindow(c, 0.42, 0.5, 0.08); }

/// Rows of a DFT matrix as tables for dl.interpolate.
struct DftTables {
  Value positions, cosines, sines;
};

// angle[k, n] = 2 pi (k n mod N) / N: the product is reduced before it is a float.
DftTables dftTables(NodeContext &c, int64_t rows, int64_t length, int64_t terms, Type type) {
  ShapeTools s{c};
  Value k = c.reshape(s.iota(c.ints({rows})), {-1, 1}), n = s.iota(c.ints({terms}));
  Value step = c.make<dl::ModOp>(c.make<dl::MulOp>(k, n), c.ints({length}));
  Value angle = c.make<dl::MulOp>(c.cast(step, type),
                                  c.scalar(type, 2 * std::numbers::pi / double(length)));
  return {s.expandTo(n, c.ints({rows, terms})), c.make<dl::CosOp>(angle),
          c.make<dl::SinOp>(angle)};
}

// X[k] = sum over n of (re + i im)[n] e^(-2 pi i k n / N)
LogicalResult dft(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  int64_t rank = c.rank(x), axis = c.intAttr("axis", c.opset < 20 ? 1 : -2);
  if (c.opset >= 20 && c.hasInput(2)) {
    auto known = c.constantInts(c.input(2));
    if (!known || known->size() != 1)
      return c.unsupported("an axis that is computed");
    axis = (*known)[0];
  }
  auto normal = c.normalizeAxis(axis, rank);
  if (failed(normal))
    return failure();
  axis = *normal;
  bool onesided = c.intAttr("onesided", 0);
  if (c.intAttr("inverse", 0))
    return c.unsupported("attribute 'inverse' = 1");
  int64_t size = c.type(x).getDimSize(axis), parts = c.type(x).getDimSize(rank - 1);
  if (axis == rank - 1 || (parts != 1 && parts != 2))
    return c.invalid("transforms the axis of the real and imaginary parts");
  if (ShapedType::isDynamic(size) || !c.isFloat(x))
    return c.unsupported("a signal of unknown length, or one that is not float");
  int64_t length = size;
  if (c.hasInput(1)) {
    auto known = c.constantInts(c.input(1));
    if (!known || known->size() != 1 || (*known)[0] < 1)
      return c.unsupported("a dft_length that is computed");
    length = (*known)[0];
  }
  if (size < 1 || length > 4096)
    return c.unsupported("the length " + Twine(length));
  // Sums that cancel need more digits than the signal has.
  Type element = c.element(x), type = c.b.getF64Type();
  x = c.cast(x, type);
  // A longer transform pads with zeros: their terms are left out.
  int64_t terms = std::min(size, length), rows = onesided ? length / 2 + 1 : length;
  DftTables t = dftTables(c, rows, length, terms, type);
  auto transform = [&](Value v, Value table) {
    return c.make<dl::InterpolateOp>(v, t.positions, table, c.b.getI64IntegerAttr(axis));
  };
  Value re = s.slice(x, rank - 1, 0, 1);
  Value outRe = transform(re, t.cosines);
  Value outIm = c.make<dl::NegOp>(transform(re, t.sines));
  if (parts == 2) {
    Value im = s.slice(x, rank - 1, 1, 2);
    outRe = c.make<dl::AddOp>(outRe, transform(im, t.sines));
    outIm = c.make<dl::AddOp>(outIm, transform(im, t.cosines));
  }
  return c.done(c.cast(s.concat({outRe, outIm}, rank - 1), element));
}

} // namespace

void addSignal(Registry &r) {
  r.add("BlackmanWindow", 1, 1, blackmanWindow, 17);
  r.add("DFT", 1, 3, dft, 17);
  r.add("HammingWindow", 1, 1, hammingWindow, 17);
  r.add("HannWindow", 1, 1, hannWindow, 17);
}

} // namespace dlc::onnx
