// Quantized ops, each as the integer or float arithmetic that defines it.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/Products.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Reduce.h"
#include "dialects/dl/ops/Slice.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

/// A vector along `axis` of a tensor of rank `rank`, so that it broadcasts.
Value alongAxis(NodeContext &c, Value vector, int64_t axis, int64_t rank) {
  if (!vector || c.rank(vector) == 0 || rank == 0)
    return vector;
  SmallVector<int64_t> shape(rank - axis, 1);
  shape[0] = -1;
  return c.reshape(vector, shape);
}

/// Every element of `v` `block` times along `axis`, cut to the size of `x` there.
Value repeatBlocks(NodeContext &c, Value v, Value x, int64_t axis, int64_t block) {
  if (!c.type(v).hasStaticShape() || c.type(x).isDynamicDim(axis)) {
    (void)c.unsupported("blocks of symbolic number");
    return {};
  }
  SmallVector<int64_t> shape(c.type(v).getShape()), split(shape), wide;
  split.insert(split.begin() + axis + 1, 1);
  wide = split;
  wide[axis + 1] = block;
  shape[axis] *= block;
  int64_t size = c.type(x).getDimSize(axis), rank = c.rank(x);
  if (shape[axis] < size) {
    (void)c.invalid("block_size " + Twine(block) + " covers " + Twine(shape[axis]) +
                    " elements of " + Twine(size));
    return {};
  }
  v = c.make<dl::ExpandOp>(c.reshape(v, split), c.ints(wide));
  v = c.reshape(v, shape);
  if (shape[axis] == size)
    return v;
  shape[axis] = size;
  SmallVector<int64_t> bounds(rank, 0);
  bounds.append(shape);
  bounds.append(rank, 1);
  auto type = RankedTensorType::get({3, rank}, c.b.getI64Type());
  return c.make<dl::SliceOp>(v, c.constant(DenseElementsAttr::get(type, ArrayRef(bounds))));
}

/// Scale and zero point of (De)QuantizeLinear, shaped to broadcast against `x`.
struct Scaling {
  Value scale, zero; // zero: null when there is none
};

FailureOr<Scaling> readScaling(NodeContext &c) {
  Value x = c.input(0), scale = c.input(1), zero = c.input(2);
  int64_t rank = c.rank(x), block = c.intAttr("block_size", 0), axis = c.intAttr("axis", 1);
  if (zero && c.type(zero).getShape() != c.type(scale).getShape())
    return c.invalid("scale and zero point have different shapes");
  if (block < 0)
    return c.invalid("block_size " + Twine(block) + " is negative");
  if (c.rank(scale) == 0 || (c.rank(scale) == 1 && c.type(scale).getDimSize(0) == 1 && block == 0)) {
    Scaling result{c.reshape(scale, ArrayRef<int64_t>{}), {}};
    if (zero)
      result.zero = c.reshape(zero, ArrayRef<int64_t>{});
    return result;
  }
  auto normal = c.normalizeAxis(axis, rank);
  if (failed(normal))
    return failure();
  if (block == 0) {
    if (c.rank(scale) != 1)
      return c.invalid("scale has rank " + Twine(c.rank(scale)) + ", expects 0 or 1");
    return Scaling{alongAxis(c, scale, *normal, rank), alongAxis(c, zero, *normal, rank)};
  }
  if (c.rank(scale) != rank)
    return c.invalid("scale has rank " + Twine(c.rank(scale)) + " but blocks need " + Twine(rank));
  Scaling result{repeatBlocks(c, scale, x, *normal, block), {}};
  if (zero && result.scale)
    result.zero = repeatBlocks(c, zero, x, *normal, block);
  if (!result.scale || c.failed())
    return failure();
  return result;
}

bool isQuantized(Type element) {
  auto type = dyn_cast<IntegerType>(element);
  return type && (type.getWidth() == 8 || type.getWidth() == 16);
}

/// saturate(round(x) + zero): `x` is f32.
Value quantize(NodeContext &c, Value x, Value zero, Type to) {
  bool isUnsigned = to.isUnsignedInteger();
  unsigned bits = to.getIntOrFloatBitWidth();
  double low = isUnsigned ? 0 : -double(int64_t(1) << (bits - 1));
  double high = low + double(int64_t(1) << bits) - 1;
  Type f32 = c.b.getF32Type();
  x = c.make<dl::RoundOp>(x);
  if (zero)
    x = c.make<dl::AddOp>(x, c.cast(zero, f32));
  x = c.make<dl::MaxOp>(x, c.scalar(f32, low));
  x = c.make<dl::MinOp>(x, c.scalar(f32, high));
  return c.cast(x, to);
}

LogicalResult quantizeLinear(NodeContext &c) {
  Builder &b = c.b;
  c.ignoreAttr("saturate"); // of 8-bit floats
  if (int64_t precision = c.intAttr("precision", 0); precision != 0 && precision != 1)
    return c.unsupported("attribute 'precision' = " + Twine(precision));
  auto scaling = readScaling(c);
  if (failed(scaling))
    return failure();
  Type to = b.getIntegerType(8, /*isSigned=*/false);
  if (c.intAttr("output_dtype", 0) != 0)
    to = c.elementTypeAttr("output_dtype");
  if (scaling->zero)
    to = c.element(scaling->zero);
  if (!to || c.failed())
    return failure();
  if (!isQuantized(to))
    return c.unsupported("quantization to this element type");
  Value x = c.cast(c.input(0), b.getF32Type()), scale = c.cast(scaling->scale, b.getF32Type());
  return c.done(quantize(c, c.make<dl::DivOp>(x, scale), scaling->zero, to));
}

LogicalResult dequantizeLinear(NodeContext &c) {
  Value x = c.input(0);
  auto scaling = readScaling(c);
  if (failed(scaling))
    return failure();
  Type from = c.element(x), i32 = c.b.getI32Type(), f32 = c.b.getF32Type();
  Type to = c.element(scaling->scale);
  if (c.intAttr("output_dtype", 0) != 0)
    to = c.elementTypeAttr("output_dtype");
  if (!to || c.failed())
    return failure();
  if (!isQuantized(from) && from != i32)
    return c.unsupported("dequantization of this element type");
  Value steps = c.cast(x, i32);
  if (scaling->zero)
    steps = c.make<dl::SubOp>(steps, c.cast(scaling->zero, i32));
  Value y = c.make<dl::MulOp>(c.cast(steps, f32), c.cast(scaling->scale, f32));
  return c.done(c.cast(y, to));
}

LogicalResult dynamicQuantizeLinear(NodeContext &c) {
  Value x = c.input(0);
  Type f32 = c.b.getF32Type(), u8 = c.b.getIntegerType(8, /*isSigned=*/false);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, c.rank(x)));
  Value none = c.scalar(f32, 0);
  auto extreme = [&](dl::ReduceKind kind) {
    return axes.empty() ? x
                        : c.make<dl::ReduceOp>(x, dl::ReduceKindAttr::get(c.b.getContext(), kind),
                                               c.array(axes), c.b.getBoolAttr(false));
  };
  Value low = c.make<dl::MinOp>(extreme(dl::ReduceKind::min), none);
  Value high = c.make<dl::MaxOp>(extreme(dl::ReduceKind::max), none);
  Value scale = c.make<dl::DivOp>(c.make<dl::SubOp>(high, low), c.scalar(f32, 255));
  // All zeros: any scale will do, but none may divide by zero.
  Value isFlat = c.make<dl::CompareOp>(
      scale, none, dl::ComparisonAttr::get(c.b.getContext(), dl::Comparison::eq));
  scale = c.make<dl::SelectOp>(isFlat, c.scalar(f32, 1), scale);
  Value zero = quantize(c, c.make<dl::NegOp>(c.make<dl::DivOp>(low, scale)), {}, u8);
  c.setOutput(0, quantize(c, c.make<dl::DivOp>(x, scale), zero, u8));
  c.setOutput(1, scale);
  c.setOutput(2, zero);
  return success(!c.failed());
}

/// x - zero as i32.
Value centered(NodeContext &c, Value x, Value zero) {
  Type i32 = c.b.getI32Type();
  x = c.cast(x, i32);
  return zero && x ? c.make<dl::SubOp>(x, c.cast(zero, i32)) : x;
}

/// What belongs to the rows of a matrix, as a column; a scalar stays.
Value perRow(NodeContext &c, Value v) {
  return v && c.rank(v) == 1 && c.type(v).getDimSize(0) != 1 ? c.reshape(v, {-1, 1}) : v;
}

LogicalResult matMulInteger(NodeContext &c) {
  Value a = centered(c, c.input(0), perRow(c, c.input(2)));
  Value b = centered(c, c.input(1), c.input(3));
  return c.done(multiplyMatrices(c, a, b));
}

LogicalResult convInteger(NodeContext &c) {
  Value w = centered(c, c.input(1), alongAxis(c, c.input(3), 0, c.rank(c.input(1))));
  return c.done(convolve(c, centered(c, c.input(0), c.input(2)), w));
}

/// i32 sums of products to the output's integers.
Value requantize(NodeContext &c, Value sums, Value scale, Value outScale, Value outZero) {
  Type f32 = c.b.getF32Type();
  Value factor = c.make<dl::DivOp>(scale, c.cast(outScale, f32));
  Value y = c.make<dl::MulOp>(c.cast(sums, f32), factor);
  return quantize(c, y, outZero, c.element(outZero));
}

LogicalResult qLinearMatMul(NodeContext &c) {
  if (!isQuantized(c.element(c.input(7))))
    return c.unsupported("quantization to this element type");
  Type f32 = c.b.getF32Type();
  Value a = centered(c, c.input(0), perRow(c, c.input(2)));
  Value b = centered(c, c.input(3), c.input(5));
  Value scale = c.make<dl::MulOp>(c.cast(perRow(c, c.input(1)), f32), c.cast(c.input(4), f32));
  Value sums = multiplyMatrices(c, a, b);
  return sums ? c.done(requantize(c, sums, scale, c.input(6), c.input(7))) : failure();
}

LogicalResult qLinearConv(NodeContext &c) {
  if (!isQuantized(c.element(c.input(7))))
    return c.unsupported("quantization to this element type");
  Type f32 = c.b.getF32Type();
  int64_t rank = c.rank(c.input(0));
  Value w = centered(c, c.input(3), alongAxis(c, c.input(5), 0, rank));
  Value sums = convolve(c, centered(c, c.input(0), c.input(2)), w);
  if (sums && c.hasInput(8))
    sums = c.make<dl::AddOp>(sums, alongAxis(c, c.input(8), 1, rank));
  Value scale = c.make<dl::MulOp>(c.cast(c.input(1), f32),
                                  c.cast(alongAxis(c, c.input(4), 1, rank), f32));
  return sums ? c.done(requantize(c, sums, scale, c.input(6), c.input(7))) : failure();
}

} // namespace

void addQuantization(Registry &r) {
  r.add("ConvInteger", 2, 4, convInteger, 10);
  r.add("DequantizeLinear", 2, 3, dequantizeLinear, 10);
  r.add("DynamicQuantizeLinear", 1, 1, dynamicQuantizeLinear, 11);
  r.add("MatMulInteger", 2, 4, matMulInteger, 10);
  r.add("QLinearConv", 8, 9, qLinearConv, 10);
  r.add("QLinearMatMul", 8, 8, qLinearMatMul, 10);
  r.add("QuantizeLinear", 2, 3, quantizeLinear, 10);
}

} // namespace dlc::onnx
