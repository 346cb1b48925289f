// What attention means: shape, and its value in simpler ops.

#include "dialects/dl/ops/Attention.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Reduce.h"
#include "dialects/dl/ops/Sequence.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Attention.cpp.inc"

namespace dlc::dl {

void registerAttentionOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Attention.cpp.inc"
      >();
}

namespace {

enum Axis { kBatch, kHead, kRow, kLast };

LogicalResult checkBroadcast(InferContext &c, Value operand, StringRef name, Type element,
                             ArrayRef<AffineExpr> target) {
  if (!operand)
    return success();
  TensorInfo info = c.of(operand);
  if (info.element != element) // C4
    return c.error() << "the " << name << " is " << info.element << ", expects " << element;
  if (info.rank() > int64_t(target.size())) // C4
    return c.error() << "the " << name << " has rank " << info.rank() << ", expects at most "
                     << target.size();
  ArrayRef<AffineExpr> tail = target.take_back(info.rank());
  for (auto [own, wanted] : llvm::zip_equal(info.dims, tail))
    if (constantSize(own) != 1 && failed(c.equal(own, wanted, Twine("sizes of the ") + name + " and of the scores")))
      return failure(); // C4
  return success();
}

bool isStatic(Value v, int64_t axis) {
  return !cast<RankedTensorType>(v.getType()).isDynamicDim(axis);
}

int64_t sizeOf(Value v, int64_t axis) {
  return cast<RankedTensorType>(v.getType()).getDimSize(axis);
}

/// The decomposition, with the heads that share a key as an axis of their own.
class Expansion {
public:
  Expansion(AttentionOp op, OpBuilder &b)
      : op(op), g(b, op, [](Value) { return false; }), element(op.getQuery().getType().getElementType()) {}

  FailureOr<AttentionOp::Stages> run() {
    bool isGrouped = isStatic(op.getQuery(), kHead) && isStatic(op.getKey(), kHead) &&
                     sizeOf(op.getQuery(), kHead) != sizeOf(op.getKey(), kHead);
    double root = std::sqrt(op.getScale().convertToDouble());
    Value query = g.scale(op.getQuery(), root), key = g.scale(op.getKey(), root);
    Value value = op.getValue();
    if (isGrouped) {
      query = splitHeads(query);
      key = shareHeads(key);
      value = shareHeads(value);
    }
    Value x = g.make<MatMulOp>(query, key, UnitAttr(), g.b.getUnitAttr());
    if (isGrouped)
      x = joinHeads(x);
    if (op.softcap() > 0)
      x = g.scale(g.make<TanhOp>(g.scale(x, 1 / op.softcap())), op.softcap());
    stages.scores = x;
    stages.masked = x = mask(x);
    stages.weights = weigh(x);
    Value weights = isGrouped ? splitHeads(stages.weights) : stages.weights;
    stages.result = g.make<MatMulOp>(weights, value, UnitAttr(), UnitAttr());
    if (isGrouped)
      stages.result = joinHeads(stages.result);
    if (g.hasFailed())
      return failure();
    return stages;
  }

private:
  Value join(ArrayRef<Value> sizes) {
    return g.make<ConcatOp>(ValueRange(sizes), g.b.getI64IntegerAttr(0));
  }
  Value batchOf(Value x) { return g.sizesOf(x, {kBatch}); }

  /// [b,h,m,n] -> [b,g,r,m,n]
  Value splitHeads(Value x) {
    int64_t heads = sizeOf(op.getQuery(), kHead), shared = sizeOf(op.getKey(), kHead);
    Value both = g.indices({shared, heads / shared});
    return g.reshape(x, join({batchOf(x), both, g.sizesOf(x, {kRow, kLast})}));
  }
  /// [b,g,m,n] -> [b,g,1,m,n]
  Value shareHeads(Value x) {
    Value both = g.indices({sizeOf(op.getKey(), kHead), 1});
    return g.reshape(x, join({batchOf(x), both, g.sizesOf(x, {kRow, kLast})}));
  }
  /// [b,g,r,m,n] -> [b,h,m,n]
  Value joinHeads(Value x) {
    Value heads = g.indices({sizeOf(op.getQuery(), kHead)});
    return g.reshape(x, join({batchOf(x), heads, g.sizesOf(x, {kRow + 1, kLast + 1})}));
  }

  Value lowest(Value like) {
    return g.constant(like, -std::numeric_limits<double>::infinity());
  }

  Value mask(Value x) {
    if (op.getBias())
      x = g.add(x, op.getBias());
    if (op.getMask())
      x = g.select(op.getMask(), x, g.constant(x, op.maskedValue()));
    if (!op.getCausal())
      return x;
    auto count = [&](Value size) {
      Type i64 = g.b.getI64Type();
      return g.make<RangeOp>(g.constantOf(i64, 0), g.constantOf(i64, 1), size);
    };
    Value length = g.sizesOf(op.getQuery(), {kRow});
    Value rows = g.reshape(count(length), join({length, g.indices({1})}));
    Value columns = count(g.sizesOf(op.getKey(), {kRow}));
    return g.select(g.compare(Comparison::le, columns, rows), x, lowest(x));
  }

  Value weigh(Value x) {
    Type precise = op.getPrecision().value_or(element);
    Value wide = precise == element ? x : g.cast(x, precise);
    Value weights = g.make<SoftmaxOp>(wide, g.b.getI64IntegerAttr(kLast), UnitAttr());
    if (precise != element)
      weights = g.cast(weights, element);
    if (!op.getZeroEmptyRows())
      return weights;
    Value most = g.reduce(x, ReduceKind::max, {kLast}, /*keepDims=*/true);
    Value isEmpty = g.compare(Comparison::eq, most, lowest(most));
    return g.select(isEmpty, g.zero(weights), weights);
  }

  AttentionOp op;
  GradientBuilder g;
  Type element;
  AttentionOp::Stages stages;
};

} // namespace

LogicalResult AttentionOp::inferTypes(InferContext &c) {
  TensorInfo query = c.of(getQuery()), key = c.of(getKey()), value = c.of(getValue());
  for (const TensorInfo *x : {&query, &key, &value})
    if (x->rank() != 4 || x->element != query.element || !isa<FloatType>(x->element)) // C1
      return c.error() << "query, key and value must have rank 4 and one float type";
  auto same = [&](const TensorInfo &x, const TensorInfo &y, int64_t axis, const char *what) {
    return succeeded(c.equal(x.dims[axis], y.dims[axis], what));
  };
  if (!same(query, key, kBatch, "batch sizes of query and key") ||
      !same(key, value, kBatch, "batch sizes of key and value") ||
      !same(query, key, kLast, "head sizes of query and key") ||
      !same(key, value, kHead, "heads of key and value") ||
      !same(key, value, kRow, "lengths of key and value")) // C2
    return failure();
  auto heads = constantSize(query.dims[kHead]), shared = constantSize(key.dims[kHead]);
  if (heads && shared && *heads != *shared && (*shared == 0 || *heads % *shared != 0)) // C3
    return c.error() << "the query has " << *heads << " heads, not a multiple of the key's "
                     << *shared;
  if (!(heads && shared) && !same(query, key, kHead, "heads of query and key")) // C3
    return failure();
  Shape scores = {query.dims[kBatch], query.dims[kHead], query.dims[kRow], key.dims[kRow]};
  if (failed(checkBroadcast(c, getMask(), "mask", IntegerType::get(c.context(), 1), scores)) ||
      failed(checkBroadcast(c, getBias(), "bias", query.element, scores)))
    return failure();
  for (double factor : {getScale().convertToDouble(), softcap()})
    if (!std::isfinite(factor) || factor < 0) // C5
      return c.error() << "scale and softcap must be finite and not negative";
  Shape dims = query.dims;
  dims.back() = value.dims.back();
  c.addResult(dims, query.element);
  return success();
}

double AttentionOp::maskedValue() {
  return getMaskedValue() ? getMaskedValue()->convertToDouble()
                          : -std::numeric_limits<double>::infinity();
}

FailureOr<AttentionOp::Stages> AttentionOp::expand(OpBuilder &b) {
  return Expansion(*this, b).run();
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &b) {
  auto stages = expand(b);
  if (failed(stages))
    return failure();
  return SmallVector<Value>{stages->result};
}

bool AttentionOp::hasKernel() {
  Type element = getQuery().getType().getElementType();
  bool isPlain = element.isF32() && getPrecision().value_or(element) == element;
  return isPlain && isStatic(getQuery(), kLast) && isStatic(getValue(), kLast) &&
         sizeOf(getQuery(), kLast) > 0 && sizeOf(getValue(), kLast) > 0;
}

AffineExpr AttentionOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  AffineExpr rows = product(dims(getResult()).drop_back(), getContext());
  AffineExpr width = dims(getResult()).back();
  Shape key(dims(getKey()));
  return rows * key[kRow] * (key[kLast] + width) * 2;
}

} // namespace dlc::dl
