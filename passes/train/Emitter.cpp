#include "passes/train/Emitter.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Sequence.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace dlc {

Value Emitter::scalar(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  return dl::ConstantOp::create(b, loc, type,
                                DenseElementsAttr::get(type, Attribute(b.getFloatAttr(element, value))));
}

Value Emitter::integer(int64_t value) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  return dl::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, value));
}

Value Emitter::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return dl::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

Value Emitter::compare(dl::Comparison how, Value x, Value y) {
  return make<dl::CompareOp>(x, y, dl::ComparisonAttr::get(b.getContext(), how));
}

Value Emitter::cast(Value x, Type to) {
  return !x || element(x) == to ? x : make<dl::CastOp>(x, TypeAttr::get(to));
}

Value Emitter::reduce(dl::ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keepDims) {
  return make<dl::ReduceOp>(x, dl::ReduceKindAttr::get(b.getContext(), kind),
                            b.getDenseI64ArrayAttr(axes), b.getBoolAttr(keepDims));
}

Value Emitter::sumAll(Value x) {
  if (!x || type(x).getRank() == 0)
    return x;
  return reduce(dl::ReduceKind::sum, x, llvm::to_vector(llvm::seq<int64_t>(0, type(x).getRank())),
                /*keepDims=*/false);
}

Value Emitter::unsqueeze(Value x, int64_t axis) {
  if (!x)
    return {};
  // The new size stands behind the old ones and is picked from there.
  int64_t rank = type(x).getRank();
  SmallVector<int64_t> positions = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  positions.insert(positions.begin() + axis, rank);
  SmallVector<Value> parts = {make<dl::ShapeOfOp>(x), ints({1})};
  Value sizes = make<dl::ConcatOp>(ValueRange(parts), b.getI64IntegerAttr(0));
  return make<dl::ReshapeOp>(x, make<dl::GatherOp>(sizes, ints(positions), b.getI64IntegerAttr(0)));
}

Value Emitter::size(Value x, int64_t axis) {
  if (!x)
    return {};
  if (!type(x).isDynamicDim(axis))
    return integer(type(x).getDimSize(axis));
  return make<dl::GatherOp>(make<dl::ShapeOfOp>(x), integer(axis), b.getI64IntegerAttr(0));
}

Value Emitter::iota(Value size) {
  Value sizes = make<dl::ReshapeOp>(size, ints({1}));
  return make<dl::RangeOp>(integer(0), integer(1), sizes);
}

Value Emitter::count(Value x, Type element) {
  if (!x)
    return {};
  if (type(x).hasStaticShape())
    return scalar(element, double(type(x).getNumElements()));
  Value sizes = cast(make<dl::ShapeOfOp>(x), element);
  return reduce(dl::ReduceKind::prod, sizes, {0}, /*keepDims=*/false);
}

} // namespace dlc
