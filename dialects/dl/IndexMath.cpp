// The arithmetic and the loop behind ops that move data.

#include "dialects/dl/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dlc::dl {

using Predicate = arith::CmpIPredicate;

Value IndexMath::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value IndexMath::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value IndexMath::sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value IndexMath::mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
Value IndexMath::min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
Value IndexMath::max(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
Value IndexMath::div(Value x, Value y) { return arith::DivSIOp::create(b, loc, x, y); }
Value IndexMath::rem(Value x, Value y) { return arith::RemSIOp::create(b, loc, x, y); }
Value IndexMath::less(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, Predicate::slt, x, y);
}
Value IndexMath::equal(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, Predicate::eq, x, y);
}
Value IndexMath::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
Value IndexMath::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value IndexMath::wrap(Value i, Value size) {
  return select(less(i, constant(0)), add(i, size), i);
}

Value IndexMath::clamp(Value i, Value size) {
  return max(min(i, sub(size, constant(1))), constant(0));
}

Value IndexMath::fromElement(Value stored, Type element) {
  if (element.isUnsignedInteger() || element.isInteger(1))
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), stored);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), stored);
}

Value IndexMath::toInteger(Value i, Type type) {
  return arith::IndexCastOp::create(b, loc, type, i);
}

Value IndexMath::fetch(Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

Value IndexMath::load(Value vector, int64_t i, Type element) {
  return fromElement(fetch(vector, constant(i)), element);
}

Value buildIndexed(LinalgLowering &l, Value like, FetchFn body, ValueRange inputs,
                   ArrayRef<AffineMap> maps) {
  int64_t rank = l.rank(like);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(l.b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return l.generic(inputs, l.empty(like), allMaps, iterators,
                   [&](OpBuilder &b, Location loc, ValueRange args) {
                     IndexMath m{b, loc};
                     SmallVector<Value> indices;
                     for (int64_t axis = 0; axis < rank; ++axis)
                       indices.push_back(linalg::IndexOp::create(b, loc, axis));
                     return body(m, indices, args.drop_back());
                   });
}

Value copyInto(LinalgLowering &l, Value source, Value target) {
  int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
  SmallVector<AffineMap> maps(2, l.b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return l.generic(source, target, maps, iterators,
                   [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

} // namespace dlc::dl
