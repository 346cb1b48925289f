// The vocabulary that vector-Jacobian products are written in.

#include "dialects/dl/Gradient.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Reduce.h"
#include "dialects/dl/ops/Sequence.h"
#include "dialects/dl/ops/Slice.h"

#include <cmath>

using namespace mlir;

namespace dlc::dl {

namespace {

RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

} // namespace

LogicalResult GradientBuilder::refuse(const Twine &what) {
  failed = true;
  return op->emitOpError("has no gradient: ") << what;
}

Value GradientBuilder::constant(Value like, double value) {
  return failed || !like ? Value() : constantOf(typeOf(like).getElementType(), value);
}

Value GradientBuilder::constantOf(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  Attribute attr = isa<FloatType>(element)
                       ? Attribute(b.getFloatAttr(element, value))
                       : Attribute(b.getIntegerAttr(element, int64_t(value)));
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, attr));
}

Value GradientBuilder::indices(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

Value GradientBuilder::add(Value x, Value y) { return make<AddOp>(x, y); }
Value GradientBuilder::sub(Value x, Value y) { return make<SubOp>(x, y); }
Value GradientBuilder::mul(Value x, Value y) { return make<MulOp>(x, y); }
Value GradientBuilder::div(Value x, Value y) { return make<DivOp>(x, y); }
Value GradientBuilder::pow(Value x, Value y) { return make<PowOp>(x, y); }
Value GradientBuilder::neg(Value x) { return make<NegOp>(x); }
Value GradientBuilder::exp(Value x) { return make<ExpOp>(x); }
Value GradientBuilder::log(Value x) { return make<LogOp>(x); }
Value GradientBuilder::rsqrt(Value x) { return make<RsqrtOp>(x); }
Value GradientBuilder::sin(Value x) { return make<SinOp>(x); }
Value GradientBuilder::cos(Value x) { return make<CosOp>(x); }
Value GradientBuilder::sinh(Value x) { return make<SinhOp>(x); }
Value GradientBuilder::cosh(Value x) { return make<CoshOp>(x); }
Value GradientBuilder::sign(Value x) { return make<SignOp>(x); }
Value GradientBuilder::floor(Value x) { return make<FloorOp>(x); }
Value GradientBuilder::round(Value x) { return make<RoundOp>(x); }

Value GradientBuilder::compare(Comparison predicate, Value x, Value y) {
  return make<CompareOp>(x, y, predicate);
}

Value GradientBuilder::select(Value condition, Value x, Value y) {
  return make<SelectOp>(condition, x, y);
}

Value GradientBuilder::cast(Value x, Type element) {
  if (x && typeOf(x).getElementType() == element)
    return x;
  return make<CastOp>(x, element);
}

SmallVector<Value> GradientBuilder::choose(Value first, Value dy) {
  return {select(first, dy, zero(dy)), select(first, zero(dy), dy)};
}

// y * x^(y - 1) is 0 * inf and log(x) is -inf at x = 0: the limits are 0.
SmallVector<Value> GradientBuilder::power(Value dy, Value x, Value y, Value result) {
  Value byBase = mul(dy, mul(y, pow(x, offset(y, -1))));
  Value byExponent = mul(dy, mul(result, log(x)));
  return {select(isZero(y), zero(dy), byBase), select(isZero(x), zero(dy), byExponent)};
}

Value GradientBuilder::shapeOf(Value like) {
  if (like && typeOf(like).hasStaticShape())
    return indices(typeOf(like).getShape());
  return make<ShapeOfOp>(like);
}

Value GradientBuilder::reshape(Value x, Value shape) { return make<ReshapeOp>(x, shape); }

Value GradientBuilder::expandLike(Value x, Value like) {
  if (x && like && typeOf(x) == typeOf(like) && typeOf(x).hasStaticShape())
    return x;
  return make<ExpandOp>(x, shapeOf(like));
}

Value GradientBuilder::sizesOf(Value like, ArrayRef<int64_t> axes) {
  if (failed || !like)
    return {};
  SmallVector<int64_t> sizes;
  for (int64_t axis : axes)
    sizes.push_back(typeOf(like).getDimSize(axis));
  if (llvm::none_of(sizes, ShapedType::isDynamic))
    return indices(sizes);
  return make<GatherOp>(shapeOf(like), indices(axes), b.getI64IntegerAttr(0));
}

Value GradientBuilder::flatten(Value x, ArrayRef<int64_t> groupStarts) {
  if (failed || !x)
    return {};
  SmallVector<Value> sizes;
  for (size_t i = 0; i < groupStarts.size(); ++i) {
    int64_t end = i + 1 < groupStarts.size() ? groupStarts[i + 1] : typeOf(x).getRank();
    auto axes = llvm::to_vector(llvm::seq<int64_t>(groupStarts[i], end));
    sizes.push_back(reduce(sizesOf(x, axes), ReduceKind::prod, {0}, true));
  }
  return reshape(x, concat(sizes, 0));
}

Value GradientBuilder::keepAxes(Value reduced, Value like, ArrayRef<int64_t> axes) {
  if (failed || !reduced || typeOf(reduced).getRank() == typeOf(like).getRank())
    return reduced;
  SmallVector<int64_t> shape(typeOf(like).getShape());
  SmallVector<Value> parts;
  for (int64_t axis = 0; axis < typeOf(like).getRank(); ++axis) {
    bool isReduced = llvm::is_contained(axes, axis);
    shape[axis] = isReduced ? 1 : shape[axis];
    parts.push_back(isReduced ? indices({1}) : sizesOf(like, axis));
  }
  if (llvm::none_of(shape, ShapedType::isDynamic))
    return reshape(reduced, indices(shape));
  return reshape(reduced, concat(parts, 0));
}

Value GradientBuilder::concat(ArrayRef<Value> parts, int64_t axis) {
  return make<ConcatOp>(ValueRange(parts), b.getI64IntegerAttr(axis));
}

Value GradientBuilder::slice(Value x, int64_t axis, Value start, Value size) {
  if (failed || !x)
    return {};
  int64_t rank = typeOf(x).getRank();
  SmallVector<Value> parts;
  auto row = [&](Value others, Value own) {
    for (int64_t i = 0; i < rank; ++i)
      parts.push_back(i == axis ? own : others ? others : sizesOf(x, i));
  };
  row(indices({0}), start);
  row({}, size);
  row(indices({1}), indices({1}));
  return make<SliceOp>(x, reshape(concat(parts, 0), indices({3, rank})));
}

Value GradientBuilder::iota(Value size) {
  Type i64 = b.getI64Type();
  return make<RangeOp>(constantOf(i64, 0), constantOf(i64, 1), size);
}

Value GradientBuilder::zeros(Value shape, Value like) { return make<ExpandOp>(zero(like), shape); }

Value GradientBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return make<TransposeOp>(x, b.getDenseI64ArrayAttr(permutation));
}

Value GradientBuilder::reduce(Value x, ReduceKind kind, ArrayRef<int64_t> axes, bool keepDims) {
  if (axes.empty() && kind != ReduceKind::sum_square)
    return x;
  return make<ReduceOp>(x, kind, axes, keepDims);
}

Value GradientBuilder::countOf(Value like, ArrayRef<int64_t> axes) {
  if (failed || !like)
    return {};
  double count = 1;
  for (int64_t axis : axes)
    count *= typeOf(like).isDynamicDim(axis) ? NAN : double(typeOf(like).getDimSize(axis));
  if (!std::isnan(count))
    return constant(like, count);
  Value product = reduce(sizesOf(like, axes), ReduceKind::prod, {0}, false);
  return cast(product, typeOf(like).getElementType());
}

// A size is broadcast exactly where it is the static 1 and the result's is not:
// shape inference demands that sizes which are not static agree.
Value GradientBuilder::sumTo(Value grad, Value like) {
  if (failed || !grad || !like)
    return {};
  RankedTensorType from = typeOf(grad), to = typeOf(like);
  int64_t lead = from.getRank() - to.getRank();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < from.getRank(); ++axis)
    if (axis < lead || (to.getDimSize(axis - lead) == 1 && from.getDimSize(axis) != 1))
      axes.push_back(axis);
  bool onlyLead = int64_t(axes.size()) == lead, hasLead = lead > 0;
  Value summed = sum(grad, axes, /*keepDims=*/!(hasLead && onlyLead));
  if (!summed || typeOf(summed) == to)
    return summed;
  return reshapeLike(summed, like);
}

SmallVector<Value> GradientBuilder::sumToOperands(ArrayRef<Value> grads) {
  SmallVector<Value> summed;
  for (auto [operand, grad] : llvm::zip_equal(op->getOperands(), grads))
    summed.push_back(grad && needs(operand) ? sumTo(grad, operand) : Value());
  return summed;
}

} // namespace dlc::dl
