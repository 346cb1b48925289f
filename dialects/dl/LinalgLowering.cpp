// The helpers that op families lower with, and the one lowering of all
// elementwise ops.

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dlc::dl {

namespace {

bool isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

/// `element` with the vector shape of `value`, if it is a vector.
Type likeVector(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

} // namespace

Type storageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type computeType(Type element) {
  if (isNarrowFloat(element))
    return Float32Type::get(element.getContext());
  if (element.isInteger(1))
    return element;
  return storageType(element);
}

Value toCompute(OpBuilder &b, Location loc, Value stored, Type element) {
  if (isNarrowFloat(element))
    return arith::ExtFOp::create(b, loc, likeVector(stored, b.getF32Type()),
                                 stored);
  if (element.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, loc,
                                           b.getZeroAttr(stored.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero);
  }
  return stored;
}

Value toStorage(OpBuilder &b, Location loc, Value computed, Type element) {
  if (isNarrowFloat(element))
    return arith::TruncFOp::create(b, loc, likeVector(computed, element),
                                   computed);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, likeVector(computed, b.getI8Type()),
                                  computed);
  return computed;
}

RankedTensorType LinalgLowering::type(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.clone(storageType(type.getElementType()));
}

SmallVector<OpFoldResult> LinalgLowering::dims(Value value) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0, e = rank(value); axis < e; ++axis)
    sizes.push_back(dim(value, axis));
  return sizes;
}

Value LinalgLowering::asValue(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, loc, size);
}

Value LinalgLowering::dimValue(Value value, int64_t axis) {
  return asValue(dim(value, axis));
}

Value LinalgLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value LinalgLowering::empty(ArrayRef<OpFoldResult> sizes, Type storage) {
  return tensor::EmptyOp::create(b, loc, sizes, storage);
}

Value LinalgLowering::empty(Value like) {
  return empty(dims(like), type(like).getElementType());
}

Value LinalgLowering::filled(ArrayRef<OpFoldResult> sizes, Value scalar) {
  Value init = empty(sizes, scalar.getType());
  return linalg::FillOp::create(b, loc, scalar, init).getResult(0);
}

Value LinalgLowering::filled(Value like, Value scalar) {
  return filled(dims(like), scalar);
}

Value LinalgLowering::scalar(Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(b, loc,
                                   b.getIntegerAttr(type, int64_t(value)));
}

Value LinalgLowering::generic(ValueRange inputs, Value init,
                              ArrayRef<AffineMap> maps,
                              ArrayRef<utils::IteratorType> iterators,
                              BodyFn body) {
  return linalg::GenericOp::create(
             b, loc, TypeRange(init.getType()), inputs, ValueRange(init), maps,
             iterators,
             [&](OpBuilder &inner, Location at, ValueRange args) {
               linalg::YieldOp::create(inner, at, body(inner, at, args));
             })
      .getResult(0);
}

Value LinalgLowering::map(ValueRange inputs, Value like, BodyFn body) {
  int64_t loops = rank(like);
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(loops));
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  return generic(inputs, empty(like), maps, iterators, body);
}

Value LinalgLowering::toStored(Value computed, Value like) {
  Type stored = type(like).getElementType();
  auto computedType = cast<RankedTensorType>(computed.getType());
  if (computedType.getElementType() == stored)
    return computed;
  return map({computed}, like, [&](OpBuilder &b, Location at, ValueRange args) {
    return toStorage(b, at, args[0], element(like));
  });
}

SmallVector<Value> LinalgLowering::reduce(ValueRange inputs, ArrayRef<Type> elements,
                                          Value result, double start,
                                          ArrayRef<AffineMap> maps,
                                          ArrayRef<utils::IteratorType> iterators,
                                          TermFn term, CombineFn combine) {
  Type compute = computeType(element(result));
  Value init = filled(dims(result), scalar(compute, start));
  bool isUnsigned = element(result).isUnsignedInteger();
  Value sum = generic(inputs, init, maps, iterators,
                      [&](OpBuilder &b, Location at, ValueRange args) {
                        ScalarMath m{b, at, isUnsigned};
                        SmallVector<Value> x;
                        for (auto [arg, type] : llvm::zip(args, elements))
                          x.push_back(toCompute(b, at, arg, type));
                        return combine(m, args.back(), term(m, x));
                      });
  return {toStored(sum, result)};
}

SmallVector<Value> LinalgLowering::accumulate(ValueRange inputs, Value result,
                                              ArrayRef<AffineMap> maps,
                                              ArrayRef<utils::IteratorType> iterators,
                                              TermFn term) {
  SmallVector<Type> elements;
  for (Value input : inputs)
    elements.push_back(cast<RankedTensorType>(input.getType()).getElementType());
  return reduce(inputs, elements, result, 0, maps, iterators, term,
                [](ScalarMath &m, Value sum, Value x) { return m.add(sum, x); });
}

AffineMap LinalgLowering::broadcastMap(Value operand, int64_t loops) {
  auto shape = cast<RankedTensorType>(operand.getType()).getShape();
  SmallVector<AffineExpr> exprs;
  for (auto [axis, size] : llvm::enumerate(shape))
    exprs.push_back(size == 1
                        ? b.getAffineConstantExpr(0)
                        : b.getAffineDimExpr(loops - shape.size() + axis));
  return AffineMap::get(loops, 0, exprs, b.getContext());
}

FailureOr<SmallVector<Value>> lowerElementwise(Operation *op, LinalgLowering &l) {
  auto elementwise = dyn_cast<Elementwise>(op);
  if (!elementwise)
    return op->emitOpError("has no linalg lowering");
  Value result = op->getResult(0);
  int64_t loops = l.rank(result);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (Value operand : op->getOperands()) {
    inputs.push_back(l.operand(operand));
    maps.push_back(l.broadcastMap(operand, loops));
  }
  maps.push_back(l.b.getMultiDimIdentityMap(loops));
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    SmallVector<Value> x;
    for (auto [operand, arg] : llvm::zip(op->getOperands(), args))
      x.push_back(toCompute(b, loc, arg, l.element(operand)));
    return toStorage(b, loc, elementwise.buildScalar(b, loc, x),
                     l.element(result));
  };
  return SmallVector<Value>{
      l.generic(inputs, l.empty(result), maps, iterators, body)};
}

} // namespace dlc::dl
