// Shapes, folding and lowering of ops that rearrange or repeat elements.

#include "dialects/dl/ops/Movement.h"

#include "dialects/dl/IndexMath.h"
#include "dialects/dl/SizeMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Movement.cpp.inc"

namespace dlc::dl {

void registerMovementOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Movement.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Reshape and resolve_shape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), shape = c.of(getShape());
  auto length = shapeOperandLength(c, shape, "shape"); // C1
  if (failed(length))
    return failure();
  Shape dims, known;
  std::optional<int64_t> rest;
  for (int64_t i = 0; i < *length; ++i) {
    AffineExpr size = c.element(getShape(), i);
    dims.push_back(size);
    auto value = constantSize(size);
    if (value && (*value < -1 || (*value == -1 && rest))) // C2
      return c.error() << "shape has the size " << *value << " at axis " << i
                       << (rest ? " and more than one -1" : "");
    if (value == -1)
      rest = i;
    else
      known.push_back(size);
  }
  if (rest)
    dims[*rest] = quotient(input.dims, known, c.context());
  bool isExact = false;
  AffineExpr ratio = quotient(input.dims, dims, c.context(), &isExact);
  if (!isExact || constantSize(ratio) != 1) { // C3
    auto same = c.equal(product(input.dims, c.context()), product(dims, c.context()),
                        "the number of elements of input and result");
    if (failed(same))
      return failure();
  }
  c.addResult(dims, input.element, input.contents);
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  if (type == getInput().getType() && type.getNumDynamicDims() <= 1)
    return getInput();
  return {};
}

FusionRole ReshapeOp::fusionRole() { return FusionRole::View; }

FailureOr<SmallVector<Value>> ReshapeOp::lowerToLinalg(LinalgLowering &l) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0, e = l.rank(getResult()); axis < e; ++axis)
    sizes.push_back(l.dimValue(getResult(), axis));
  auto shapeType = RankedTensorType::get({int64_t(sizes.size())}, l.b.getIndexType());
  Value shape =
      sizes.empty()
          ? Value(tensor::EmptyOp::create(l.b, l.loc, shapeType, ValueRange()))
          : Value(tensor::FromElementsOp::create(l.b, l.loc, shapeType, sizes));
  return SmallVector<Value>{tensor::ReshapeOp::create(
      l.b, l.loc, l.type(getResult()), l.operand(getInput()), shape)};
}

LogicalResult ResolveShapeOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), shape = c.of(getShape());
  auto length = shapeOperandLength(c, shape, "shape"); // C1
  if (failed(length))
    return failure();
  auto contents = trackedElements(shape);
  if (!contents) {
    c.addResult(shape.dims, shape.element);
    return success();
  }
  Shape known;
  std::optional<int64_t> rest;
  bool allKnown = true;
  for (auto [i, size] : llvm::enumerate(*contents)) {
    if (size && constantSize(size) == 0 && !getAllowZero()) {
      if (int64_t(i) >= input.rank()) // C2
        return c.error() << "shape has 0 at axis " << i << " but input has rank "
                         << input.rank();
      size = input.dims[i];
    }
    if (size && constantSize(size) == -1 && !rest)
      rest = i;
    else if (size)
      known.push_back(size);
    else
      allKnown = false;
  }
  if (rest)
    (*contents)[*rest] =
        allKnown ? quotient(input.dims, known, c.context()) : AffineExpr();
  c.addResult(shape.dims, shape.element, contents);
  return success();
}

FailureOr<SmallVector<Value>> ResolveShapeOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath m{l.b, l.loc};
  Type element = l.element(getShape());
  int64_t length = cast<RankedTensorType>(getShape().getType()).getDimSize(0);
  if (length == 0)
    return SmallVector<Value>{l.empty(getResult())};
  Value total = m.constant(1), known = m.constant(1), one = m.constant(1);
  for (OpFoldResult size : l.dims(getInput()))
    total = m.mul(total, l.asValue(size));
  SmallVector<Value> sizes, isRest;
  for (int64_t i = 0; i < length; ++i) {
    Value size = m.load(l.operand(getShape()), i, element);
    if (!getAllowZero() && i < l.rank(getInput()))
      size = m.select(m.equal(size, m.constant(0)), l.dimValue(getInput(), i), size);
    isRest.push_back(m.equal(size, m.constant(-1)));
    known = m.mul(known, m.select(isRest.back(), one, size));
    sizes.push_back(size);
  }
  Value noneKnown = m.equal(known, m.constant(0));
  Value rest = m.div(total, m.select(noneKnown, one, known));
  rest = m.select(noneKnown, m.constant(0), rest);
  for (auto [size, flag] : llvm::zip(sizes, isRest))
    size = m.toInteger(m.select(flag, rest, size), l.b.getI64Type());
  return SmallVector<Value>{tensor::FromElementsOp::create(
      l.b, l.loc, l.type(getResult()), sizes)};
}

//===----------------------------------------------------------------------===//
// Expand and broadcast_shape
//===----------------------------------------------------------------------===//

LogicalResult BroadcastShapeOp::inferTypes(InferContext &c) {
  TensorInfo lhs = c.of(getLhs()), rhs = c.of(getRhs());
  auto lengthL = shapeOperandLength(c, lhs, "lhs"); // C1
  auto lengthR = shapeOperandLength(c, rhs, "rhs");
  if (failed(lengthL) || failed(lengthR))
    return failure();
  int64_t length = std::max(*lengthL, *lengthR);
  auto a = trackedElements(lhs), b = trackedElements(rhs);
  std::optional<SmallVector<AffineExpr>> contents;
  if (a && b) {
    contents.emplace(length);
    for (int64_t i = 0; i < length; ++i) {
      int64_t atA = i - (length - *lengthL), atB = i - (length - *lengthR);
      AffineExpr x = atA < 0 ? c.constant(1) : (*a)[atA];
      AffineExpr y = atB < 0 ? c.constant(1) : (*b)[atB];
      if (!x || !y) // The one that is known and not 1 decides.
        std::swap(x, y);
      auto sizeX = x ? constantSize(x) : std::nullopt;
      auto sizeY = y ? constantSize(y) : std::nullopt;
      if (sizeX && sizeY && *sizeX != *sizeY && *sizeX != 1 && *sizeY != 1) // C2
        return c.error() << "sizes do not broadcast: " << *sizeX << " and " << *sizeY;
      if (sizeX == 1 || (sizeY && *sizeY != 1))
        (*contents)[i] = y;
      else if (x == y || sizeY == 1 || sizeX)
        (*contents)[i] = x;
    }
  }
  c.addResult({c.constant(length)}, lhs.element, contents);
  return success();
}

FailureOr<SmallVector<Value>> BroadcastShapeOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath m{l.b, l.loc};
  auto lengthOf = [](Value v) { return cast<RankedTensorType>(v.getType()).getDimSize(0); };
  int64_t lengthL = lengthOf(getLhs()), lengthR = lengthOf(getRhs());
  int64_t length = std::max(lengthL, lengthR);
  if (length == 0)
    return SmallVector<Value>{l.empty(getResult())};
  SmallVector<Value> sizes;
  auto at = [&](Value v, int64_t i) {
    return i < 0 ? m.constant(1) : m.load(l.operand(v), i, l.element(v));
  };
  for (int64_t i = 0; i < length; ++i) {
    Value x = at(getLhs(), i - (length - lengthL)), y = at(getRhs(), i - (length - lengthR));
    Value size = m.select(m.equal(x, m.constant(1)), y, x);
    sizes.push_back(m.toInteger(size, l.b.getI64Type()));
  }
  return SmallVector<Value>{tensor::FromElementsOp::create(
      l.b, l.loc, l.type(getResult()), sizes)};
}

LogicalResult ExpandOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  auto length = shapeOperandLength(c, c.of(getShape()), "shape"); // C1
  if (failed(length))
    return failure();
  if (*length < input.rank())
    return c.error() << "shape has " << *length << " sizes, input has rank "
                     << input.rank();
  Shape dims;
  for (int64_t i = 0; i < *length; ++i) {
    dims.push_back(c.element(getShape(), i));
    int64_t axis = i - (*length - input.rank());
    if (axis < 0 || constantSize(input.dims[axis]) == 1)
      continue;
    if (failed(c.equal(input.dims[axis], dims[i], "expanded size"))) // C2
      return failure();
  }
  std::optional<SmallVector<AffineExpr>> contents;
  auto count = trackableCount(dims);
  if (count && input.contents && input.contents->size() == 1)
    contents.emplace(*count, input.contents->front());
  else if (count && input.contents && int64_t(input.contents->size()) == *count)
    contents = input.contents;
  c.addResult(dims, input.element, contents);
  return success();
}

FusionRole ExpandOp::fusionRole() { return FusionRole::Opaque; }

FailureOr<SmallVector<Value>> ExpandOp::lowerToLinalg(LinalgLowering &l) {
  int64_t rank = l.rank(getResult());
  SmallVector<AffineMap> maps = {l.broadcastMap(getInput(), rank),
                                 l.b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return SmallVector<Value>{
      l.generic(l.operand(getInput()), l.empty(getResult()), maps, iterators,
                [](OpBuilder &, Location, ValueRange x) { return x[0]; })};
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  SmallVector<bool> seen(input.rank(), false);
  Shape dims;
  for (int64_t axis : getPermutation()) { // C1
    if (axis < 0 || axis >= input.rank() || seen[axis])
      return c.error() << "permutation is none of the " << input.rank() << " axes";
    seen[axis] = true;
    dims.push_back(input.dims[axis]);
  }
  if (int64_t(dims.size()) != input.rank())
    return c.error() << "permutation has " << dims.size() << " axes, input has rank "
                     << input.rank();
  c.addResult(dims, input.element,
              input.rank() <= 1 ? input.contents : std::nullopt);
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    if (int64_t(i) != axis)
      return {};
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

namespace {

/// transpose(transpose(x, p), q) -> transpose(x, p o q)
struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &b) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return b.notifyMatchFailure(op, "input is no transpose");
    SmallVector<int64_t> permutation;
    for (int64_t axis : op.getPermutation())
      permutation.push_back(inner.getPermutation()[axis]);
    b.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(), permutation);
    return success();
  }
};

SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [i, axis] : llvm::enumerate(permutation))
    result[axis] = i;
  return result;
}

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<ComposeTransposes>(context);
}

FailureOr<SmallVector<Value>>
TransposeOp::permuteLayout(OpBuilder &b, ValueRange operands, ArrayRef<int64_t> perm) {
  ArrayRef<int64_t> own = getPermutation();
  if (perm.size() != own.size())
    return failure();
  SmallVector<int64_t> back = inverse(perm), permutation;
  for (int64_t axis : perm)
    permutation.push_back(back[own[axis]]);
  auto op = make<TransposeOp>(b, getLoc(), operands[0], b.getDenseI64ArrayAttr(permutation));
  return SmallVector<Value>{op.getResult()};
}

/// Moving axes of size 1 alone moves no element.
FusionRole TransposeOp::fusionRole() {
  auto type = cast<RankedTensorType>(getInput().getType());
  SmallVector<int64_t> moved(llvm::make_filter_range(
      getPermutation(), [&](int64_t axis) { return type.getDimSize(axis) != 1; }));
  return llvm::is_sorted(moved) ? FusionRole::View : defaultFusionRole(*this);
}

FailureOr<SmallVector<Value>> TransposeOp::lowerToLinalg(LinalgLowering &l) {
  int64_t rank = l.rank(getResult());
  SmallVector<AffineExpr> exprs;
  for (int64_t axis : inverse(getPermutation()))
    exprs.push_back(l.b.getAffineDimExpr(axis));
  SmallVector<AffineMap> maps = {AffineMap::get(rank, 0, exprs, l.b.getContext()),
                                 l.b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return SmallVector<Value>{
      l.generic(l.operand(getInput()), l.empty(getResult()), maps, iterators,
                [](OpBuilder &, Location, ValueRange x) { return x[0]; })};
}

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferTypes(InferContext &c) {
  if (getInputs().empty()) // C1
    return c.error() << "has no operands";
  TensorInfo first = c.of(getInputs().front());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= first.rank()) // C3
    return c.error() << "axis " << axis << " is outside the rank " << first.rank();
  Shape dims = first.dims;
  std::optional<SmallVector<AffineExpr>> contents = trackedElements(first);
  for (Value input : getInputs().drop_front()) {
    TensorInfo info = c.of(input);
    if (info.element != first.element || info.rank() != first.rank()) // C2
      return c.error() << "operands differ in element type or rank: "
                       << first.element << " of rank " << first.rank() << " and "
                       << info.element << " of rank " << info.rank();
    for (int64_t i = 0; i < first.rank(); ++i) {
      if (i == axis) {
        dims[i] = dims[i] + info.dims[i];
        continue;
      }
      auto size = c.equal(dims[i], info.dims[i], "size along axis " + Twine(i)); // C4
      if (failed(size))
        return failure();
      dims[i] = *size;
    }
    auto more = trackedElements(info);
    if (contents && more)
      contents->append(*more);
    else
      contents.reset();
  }
  bool isTracked = contents && dims.size() == 1 && trackableCount(dims);
  c.addResult(dims, first.element, isTracked ? contents : std::nullopt);
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 && getInputs()[0].getType() == getType())
    return getInputs()[0];
  return {};
}

FailureOr<SmallVector<Value>>
ConcatOp::permuteLayout(OpBuilder &b, ValueRange operands, ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != int64_t(perm.size()))
    return failure();
  int64_t axis = inverse(perm)[getAxis()];
  auto op = make<ConcatOp>(b, getLoc(), operands, b.getI64IntegerAttr(axis));
  return SmallVector<Value>{op.getResult()};
}

FailureOr<SmallVector<Value>> ConcatOp::lowerToLinalg(LinalgLowering &l) {
  IndexMath m{l.b, l.loc};
  int64_t rank = l.rank(getResult()), axis = getAxis();
  Value result = l.empty(getResult());
  SmallVector<OpFoldResult> offsets(rank, l.b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, l.b.getIndexAttr(1));
  std::optional<int64_t> position = 0;
  for (Value input : getInputs()) {
    SmallVector<OpFoldResult> sizes = l.dims(input);
    if (getConstantIntValue(sizes[axis]) == 0)
      continue; // An empty slice at the end would start outside.
    Value slice = tensor::ExtractSliceOp::create(l.b, l.loc, result, offsets, sizes, strides);
    Value copied = copyInto(l, l.operand(input), slice);
    result = tensor::InsertSliceOp::create(l.b, l.loc, copied, result, offsets, sizes, strides);
    auto size = getConstantIntValue(sizes[axis]);
    if (position && size) {
      position = *position + *size;
      offsets[axis] = l.b.getIndexAttr(*position);
      continue;
    }
    position.reset();
    offsets[axis] = m.add(l.asValue(offsets[axis]), l.asValue(sizes[axis]));
  }
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

LogicalResult TileOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  auto length = shapeOperandLength(c, c.of(getRepeats()), "repeats"); // C1
  if (failed(length))
    return failure();
  if (*length != input.rank())
    return c.error() << "repeats has " << *length << " elements, input has rank "
                     << input.rank();
  Shape dims;
  for (int64_t i = 0; i < *length; ++i)
    dims.push_back(input.dims[i] * c.element(getRepeats(), i));
  std::optional<SmallVector<AffineExpr>> contents;
  auto count = trackableCount(dims);
  auto elements = trackedElements(input);
  if (input.rank() == 1 && count && elements && !elements->empty())
    for (contents.emplace(); int64_t(contents->size()) < *count;)
      contents->append(*elements);
  c.addResult(dims, input.element, contents);
  return success();
}

FailureOr<SmallVector<Value>> TileOp::lowerToLinalg(LinalgLowering &l) {
  Value input = l.operand(getInput());
  auto type = cast<RankedTensorType>(getInput().getType());
  auto resultType = cast<RankedTensorType>(getType());
  SmallVector<Value> sizes;
  for (OpFoldResult size : l.dims(getInput()))
    sizes.push_back(l.asValue(size));
  return SmallVector<Value>{buildIndexed(
      l, getResult(), [&](IndexMath &m, ArrayRef<Value> indices, ValueRange) {
        SmallVector<Value> source;
        for (auto [axis, index] : llvm::enumerate(indices)) {
          bool isWhole = !type.isDynamicDim(axis) &&
                         type.getDimSize(axis) == resultType.getDimSize(axis);
          source.push_back(isWhole ? index : m.rem(index, sizes[axis]));
        }
        return m.fetch(input, source);
      })};
}

//===----------------------------------------------------------------------===//
// Bitcast
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  Type from = storageType(input.element), to = storageType(getTo());
  if (getTo().isInteger(1) || from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth()) // C1
    return c.error() << "cannot read the bits of " << input.element << " as " << getTo();
  c.addResult(input.dims, getTo());
  return success();
}

FailureOr<SmallVector<Value>> BitcastOp::lowerToLinalg(LinalgLowering &l) {
  Type from = storageType(l.element(getInput())), to = storageType(getTo());
  return SmallVector<Value>{
      l.map(l.operand(getInput()), getResult(), [&](OpBuilder &b, Location loc, ValueRange x) {
        return from == to ? x[0] : Value(arith::BitcastOp::create(b, loc, to, x[0]));
      })};
}

} // namespace dlc::dl
