// What dl.random means.

#include "dialects/dl/ops/Random.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Random.cpp.inc"

namespace dlc::dl {

void registerRandomOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Random.cpp.inc"
      >();
}

LogicalResult RandomOp::inferTypes(InferContext &c) {
  TensorInfo shape = c.of(getShape());
  auto rank = shape.rank() == 1 ? constantSize(shape.dims[0]) : std::nullopt;
  if (!rank || !shape.element.isInteger(64)) // C1
    return c.error() << "shape must be an i64 vector of static length";
  if (!isa<FloatType>(getElement())) // C2
    return c.error() << "draws floats, not " << getElement();
  if (Value counter = getCounter()) // C3
    if (TensorInfo info = c.of(counter); info.rank() != 0 || !info.element.isInteger(64))
      return c.error() << "counter must be an i64 of rank 0";
  Shape dims;
  for (int64_t axis = 0; axis < *rank; ++axis)
    dims.push_back(c.element(getShape(), axis));
  c.addResult(dims, getElement());
  return success();
}

namespace {

Value word(OpBuilder &b, Location loc, uint64_t v) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(uint32_t(v))));
}

/// The halves of an i64.
std::array<Value, 2> halves(OpBuilder &b, Location loc, Value v) {
  Value width = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value high = arith::ShRUIOp::create(b, loc, v, width);
  return {arith::TruncIOp::create(b, loc, b.getI32Type(), v),
          arith::TruncIOp::create(b, loc, b.getI32Type(), high)};
}

/// Ten rounds of Philox4x32 on i32 values.
SmallVector<Value> philox(OpBuilder &b, Location loc, SmallVector<Value> x, std::array<Value, 2> key) {
  auto exclusiveOr = [&](Value a, Value c) -> Value { return arith::XOrIOp::create(b, loc, a, c); };
  for (int round = 0; round < 10; ++round) {
    auto first = arith::MulUIExtendedOp::create(b, loc, x[0], word(b, loc, 0xD2511F53u));
    auto second = arith::MulUIExtendedOp::create(b, loc, x[2], word(b, loc, 0xCD9E8D57u));
    x = {exclusiveOr(exclusiveOr(second.getHigh(), x[1]), key[0]), second.getLow(),
         exclusiveOr(exclusiveOr(first.getHigh(), x[3]), key[1]), first.getLow()};
    key = {arith::AddIOp::create(b, loc, key[0], word(b, loc, 0x9E3779B9u)),
           arith::AddIOp::create(b, loc, key[1], word(b, loc, 0xBB67AE85u))};
  }
  return x;
}

} // namespace

FailureOr<SmallVector<Value>> RandomOp::lowerToLinalg(LinalgLowering &l) {
  Type element = getElement(), compute = computeType(element);
  int64_t rank = l.rank(getResult());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(l.dimValue(getResult(), axis));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps = {l.b.getMultiDimIdentityMap(rank)};
  if (getCounter()) {
    inputs.push_back(l.operand(getCounter()));
    maps.insert(maps.begin(), l.broadcastMap(getCounter(), rank));
  }
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  Value empty = l.empty(getResult());
  Value result = l.generic(inputs, empty, maps, iterators, [&](OpBuilder &b, Location loc, ValueRange x) {
    Value position = arith::ConstantIndexOp::create(b, loc, 0);
    for (int64_t axis = 0; axis < rank; ++axis)
      position = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, position, sizes[axis]),
                                       linalg::IndexOp::create(b, loc, axis));
    Value place = arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
    uint64_t stream = getStream(), seed = getSeed();
    Value streamLow = word(b, loc, stream), streamHigh = word(b, loc, stream >> 32);
    std::array<Value, 2> key = {word(b, loc, seed), word(b, loc, seed >> 32)};
    // A key of its own for every value of the counter.
    if (getCounter()) {
      auto [low, high] = halves(b, loc, x[0]);
      SmallVector<Value> derived = philox(b, loc, {low, high, streamLow, streamHigh}, key);
      key = {derived[0], derived[1]};
    }
    auto [low, high] = halves(b, loc, place);
    SmallVector<Value> words = philox(b, loc, {low, high, streamLow, streamHigh}, key);
    ScalarMath m{b, loc, false};
    // 24 bits make a float in [0, 1) exactly.
    auto unit = [&](Value bits) -> Value {
      Value top = arith::ShRUIOp::create(b, loc, bits, word(b, loc, 8));
      return m.multiply(arith::UIToFPOp::create(b, loc, compute, top),
                        m.constant(compute, std::ldexp(1.0, -24)));
    };
    Value u = unit(words[0]);
    if (!getNormal())
      return toStorage(b, loc, u, element);
    // sqrt(-2 ln(1 - u)) cos(2 pi v): 1 - u is never 0.
    Value radius = math::SqrtOp::create(
        b, loc, m.multiply(m.constant(compute, -2),
                           math::LogOp::create(b, loc, m.subtract(m.constant(compute, 1), u))));
    Value angle = m.multiply(m.constant(compute, 2 * M_PI), unit(words[1]));
    return toStorage(b, loc, m.multiply(radius, math::CosOp::create(b, loc, angle)), element);
  });
  return SmallVector<Value>{result};
}

} // namespace dlc::dl
