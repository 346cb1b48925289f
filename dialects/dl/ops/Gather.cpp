// Shapes, index ranges and loops of gathers.

#include "dialects/dl/ops/Gather.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/IndexMath.h"
#include "dialects/dl/SizeMath.h"
#include "dialects/dl/ops/Scatter.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Gather.cpp.inc"

namespace dlc::dl {

void registerGatherOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Gather.cpp.inc"
      >();
}

namespace {

LogicalResult checkAxisAndIndices(InferContext &c, const TensorInfo &input,
                                  const TensorInfo &indices, int64_t axis) {
  if (axis < 0 || axis >= input.rank()) // C1
    return c.error() << "axis " << axis << " is outside the rank " << input.rank();
  if (!isa<IntegerType>(indices.element)) // C2
    return c.error() << "indices have the element type " << indices.element
                     << ", expects integers";
  if (trackableCount(indices.dims) == 0)
    return success();
  return demandIndices(c, indices, input.dims[axis]);
}

/// The indices of a whole axis: [-size, size).
IndexRange wholeAxis(Value indices, AffineExpr size) {
  return {indices, -size, size};
}

/// Elements of a small vector picked by constant indices.
std::optional<SmallVector<AffineExpr>> pickContents(const TensorInfo &input,
                                                    const TensorInfo &indices) {
  if (input.rank() != 1 || !input.contents || !trackableCount(indices.dims))
    return std::nullopt;
  SmallVector<AffineExpr> picked;
  int64_t size = input.contents->size();
  for (AffineExpr index : indices.contents.value_or(
           SmallVector<AffineExpr>(*trackableCount(indices.dims)))) {
    auto i = index ? constantSize(index) : std::nullopt;
    bool isKnown = i && *i >= -size && *i < size;
    picked.push_back(isKnown ? (*input.contents)[*i < 0 ? *i + size : *i] : AffineExpr());
  }
  return picked;
}

/// A stored index, wrapped and forced into the axis.
Value resolveIndex(IndexMath &m, Value stored, Type element, Value size) {
  return m.clamp(m.wrap(m.fromElement(stored, element), size), size);
}

} // namespace

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), indices = c.of(getIndices());
  int64_t axis = getAxis();
  if (failed(checkAxisAndIndices(c, input, indices, axis)))
    return failure();
  Shape dims(ArrayRef(input.dims).take_front(axis));
  dims.append(indices.dims);
  dims.append(input.dims.begin() + axis + 1, input.dims.end());
  c.addResult(dims, input.element, pickContents(input, indices));
  return success();
}

SmallVector<IndexRange> GatherOp::indexRanges(InferContext &c) {
  return {wholeAxis(getIndices(), c.of(getInput()).dims[getAxis()])};
}

FailureOr<SmallVector<Value>> GatherOp::lowerToLinalg(LinalgLowering &l) {
  int64_t axis = getAxis(), indexRank = l.rank(getIndices());
  int64_t loops = l.rank(getResult());
  Value input = l.operand(getInput()), size = l.dimValue(getInput(), axis);
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < indexRank; ++i)
    exprs.push_back(l.b.getAffineDimExpr(axis + i));
  AffineMap map = AffineMap::get(loops, 0, exprs, l.b.getContext());
  return SmallVector<Value>{buildIndexed(
      l, getResult(),
      [&](IndexMath &m, ArrayRef<Value> at, ValueRange x) {
        SmallVector<Value> source(at.take_front(axis));
        source.push_back(resolveIndex(m, x[0], l.element(getIndices()), size));
        source.append(at.begin() + axis + indexRank, at.end());
        return m.fetch(input, source);
      },
      l.operand(getIndices()), map)};
}

//===----------------------------------------------------------------------===//
// gather_elements
//===----------------------------------------------------------------------===//

LogicalResult GatherElementsOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), indices = c.of(getIndices());
  int64_t axis = getAxis();
  if (failed(checkAxisAndIndices(c, input, indices, axis)))
    return failure();
  if (indices.rank() != input.rank()) // C1
    return c.error() << "indices have rank " << indices.rank() << ", input has "
                     << input.rank();
  for (int64_t i = 0; i < input.rank(); ++i)
    if (i != axis && failed(demandAtLeast(c, input.dims[i], indices.dims[i], // C3
                                          "size along axis " + Twine(i))))
      return failure();
  c.addResult(indices.dims, input.element);
  return success();
}

SmallVector<IndexRange> GatherElementsOp::indexRanges(InferContext &c) {
  return {wholeAxis(getIndices(), c.of(getInput()).dims[getAxis()])};
}

FailureOr<SmallVector<Value>> GatherElementsOp::lowerToLinalg(LinalgLowering &l) {
  int64_t axis = getAxis();
  Value input = l.operand(getInput()), size = l.dimValue(getInput(), axis);
  return SmallVector<Value>{buildIndexed(
      l, getResult(),
      [&](IndexMath &m, ArrayRef<Value> at, ValueRange x) {
        SmallVector<Value> source(at);
        source[axis] = resolveIndex(m, x[0], l.element(getIndices()), size);
        return m.fetch(input, source);
      },
      l.operand(getIndices()), l.b.getMultiDimIdentityMap(l.rank(getResult())))};
}

//===----------------------------------------------------------------------===//
// gather_nd
//===----------------------------------------------------------------------===//

LogicalResult GatherNdOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  int64_t batch = getBatchDims(), count = getIndices().size();
  if (count == 0 || batch < 0 || batch + count > input.rank()) // C1
    return c.error() << count << " coordinates and " << batch
                     << " batch axes do not fit rank " << input.rank();
  TensorInfo first = c.of(getIndices().front());
  Shape dims = first.dims;
  for (auto [i, indices] : llvm::enumerate(getIndices())) {
    TensorInfo info = c.of(indices);
    if (info.element != first.element || info.rank() != first.rank() ||
        !isa<IntegerType>(info.element)) // C2
      return c.error() << "indices differ in type";
    for (auto [common, dim] : llvm::zip(dims, info.dims)) {
      auto size = c.equal(common, dim, "size of indices");
      if (failed(size))
        return failure();
      common = *size;
    }
    if (trackableCount(info.dims) != 0 &&
        failed(demandIndices(c, info, input.dims[batch + i])))
      return failure();
  }
  if (first.rank() < batch) // C3
    return c.error() << "indices have rank " << first.rank() << ", expects " << batch
                     << " batch axes";
  for (int64_t i = 0; i < batch; ++i)
    if (failed(c.equal(dims[i], input.dims[i], "batch size along axis " + Twine(i))))
      return failure();
  dims.append(input.dims.begin() + batch + count, input.dims.end());
  c.addResult(dims, input.element);
  return success();
}

SmallVector<IndexRange> GatherNdOp::indexRanges(InferContext &c) {
  SmallVector<IndexRange> ranges;
  Shape dims = c.of(getInput()).dims;
  for (auto [i, indices] : llvm::enumerate(getIndices()))
    ranges.push_back(wholeAxis(indices, dims[getBatchDims() + i]));
  return ranges;
}

FailureOr<SmallVector<Value>> GatherNdOp::lowerToLinalg(LinalgLowering &l) {
  Value input = l.operand(getInput());
  int64_t batch = getBatchDims(), loops = l.rank(getResult());
  int64_t indexRank = l.rank(getIndices().front());
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < indexRank; ++i)
    exprs.push_back(l.b.getAffineDimExpr(i));
  SmallVector<AffineMap> maps(getIndices().size(),
                              AffineMap::get(loops, 0, exprs, l.b.getContext()));
  SmallVector<Value> columns, sizes;
  for (auto [i, indices] : llvm::enumerate(getIndices())) {
    columns.push_back(l.operand(indices));
    sizes.push_back(l.dimValue(getInput(), batch + i));
  }
  Type element = l.element(getIndices().front());
  return SmallVector<Value>{buildIndexed(
      l, getResult(),
      [&](IndexMath &m, ArrayRef<Value> at, ValueRange x) {
        SmallVector<Value> source(at.take_front(batch));
        for (auto [stored, size] : llvm::zip(x, sizes))
          source.push_back(resolveIndex(m, stored, element, size));
        source.append(at.begin() + indexRank, at.end());
        return m.fetch(input, source);
      },
      columns, maps)};
}

//===----------------------------------------------------------------------===//
// Gradients: what was read in several places sums up there
//===----------------------------------------------------------------------===//

Value gatherGradient(GradientBuilder &g, Value grad, Value indices, int64_t axis, Value shape) {
  if (!grad || !indices || !shape || g.hasFailed())
    return {};
  auto rankOf = [](Value v) { return cast<RankedTensorType>(v.getType()).getRank(); };
  int64_t indexRank = rankOf(indices), rank = rankOf(grad) - indexRank + 1;
  // The axes of the indices, or the axis they stand for, come first.
  auto toFront = [&](int64_t count, int64_t all) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < all; ++i)
      if (i >= axis && i < axis + count)
        order.push_back(i);
    for (int64_t i = 0; i < all; ++i)
      if (i < axis || i >= axis + count)
        order.push_back(i);
    return order;
  };
  SmallVector<int64_t> order = toFront(1, rank);
  Value sizes = g.make<GatherOp>(shape, g.indices(order), g.b.getI64IntegerAttr(0));
  if (axis != 0)
    grad = g.transpose(grad, toFront(indexRank, rankOf(grad)));
  Value sum = g.make<ScatterNdOp>(g.zeros(sizes, grad), grad, ValueRange(indices), ScatterMode::add);
  return axis == 0 ? sum : g.transpose(sum, invertPermutationVector(order));
}

FailureOr<SmallVector<Value>> GatherOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return SmallVector<Value>{
      gatherGradient(g, grads[0], getIndices(), getAxis(), g.shapeOf(getInput())), Value()};
}

FailureOr<SmallVector<Value>> GatherElementsOp::buildGradient(GradientBuilder &g,
                                                              ArrayRef<Value> grads) {
  return SmallVector<Value>{g.make<ScatterElementsOp>(g.zerosLike(getInput()), getIndices(), grads[0],
                                                      getAxis(), ScatterMode::add),
                            Value()};
}

FailureOr<SmallVector<Value>> GatherNdOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value first = getIndices().front();
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<Value> coordinates;
  for (int64_t axis = 0; axis < int64_t(getBatchDims()); ++axis) {
    // Along a batch axis, every position reads its own entry.
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[axis] = -1;
    Value own = g.cast(g.iota(g.sizesOf(first, axis)), type.getElementType());
    coordinates.push_back(g.expandLike(g.reshape(own, g.indices(shape)), first));
  }
  llvm::append_range(coordinates, getIndices());
  SmallVector<Value> result(getNumOperands());
  result[0] = g.make<ScatterNdOp>(g.zerosLike(getInput()), grads[0], ValueRange(coordinates),
                                  ScatterMode::add);
  return result;
}

} // namespace dlc::dl
