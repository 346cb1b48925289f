// Shapes, index ranges and loops of scatters. Duplicates make the order of
// writes matter, so the loops are sequential.

#include "dialects/dl/ops/Scatter.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/IndexMath.h"
#include "dialects/dl/ScalarMath.h"
#include "dialects/dl/SizeMath.h"
#include "dialects/dl/ops/Gather.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Scatter.cpp.inc"

namespace dlc::dl {

void registerScatterOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Scatter.cpp.inc"
      >();
}

namespace {

Value combine(OpBuilder &b, Location loc, ScatterMode mode, Value old, Value update,
              Type element) {
  if (mode == ScatterMode::replace)
    return update;
  ScalarMath m{b, loc, element.isUnsignedInteger() || element.isInteger(1)};
  Value x = toCompute(b, loc, old, element), y = toCompute(b, loc, update, element);
  Value result;
  switch (mode) {
  case ScatterMode::replace: break;
  case ScatterMode::add: result = m.add(x, y); break;
  case ScatterMode::mul: result = m.multiply(x, y); break;
  case ScatterMode::min: result = m.minimum(x, y); break;
  case ScatterMode::max: result = m.maximum(x, y); break;
  }
  return toStorage(b, loc, result, element);
}

/// For every position of `updates`, writes to where `target` says.
Value scatterLoop(LinalgLowering &l, Value input, Value updates, ScatterMode mode,
                  function_ref<SmallVector<Value>(IndexMath &, ValueRange)> target) {
  IndexMath outer{l.b, l.loc};
  SmallVector<Value> uppers;
  for (OpFoldResult size : l.dims(updates))
    uppers.push_back(l.asValue(size));
  SmallVector<Value> lowers(uppers.size(), outer.constant(0));
  SmallVector<Value> steps(uppers.size(), outer.constant(1));
  Value result = copyInto(l, l.operand(input), l.empty(input));
  auto nest = scf::buildLoopNest(
      l.b, l.loc, lowers, uppers, steps, result,
      [&](OpBuilder &b, Location loc, ValueRange at, ValueRange carried) {
        IndexMath m{b, loc};
        SmallVector<Value> position = target(m, at);
        Value old = m.fetch(carried[0], position);
        Value update = m.fetch(l.operand(updates), at);
        Value value = combine(b, loc, mode, old, update, l.element(input));
        return scf::ValueVector{
            tensor::InsertOp::create(b, loc, value, carried[0], position)};
      });
  return nest.results.empty() ? result : nest.results[0];
}

} // namespace

//===----------------------------------------------------------------------===//
// scatter_elements
//===----------------------------------------------------------------------===//

LogicalResult ScatterElementsOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), indices = c.of(getIndices());
  TensorInfo updates = c.of(getUpdates());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= input.rank() || indices.rank() != input.rank() ||
      updates.rank() != input.rank()) // C1
    return c.error() << "axis " << axis << " and the ranks " << input.rank() << ", "
                     << indices.rank() << ", " << updates.rank() << " do not fit";
  if (!isa<IntegerType>(indices.element)) // C2
    return c.error() << "indices have the element type " << indices.element;
  if (updates.element != input.element) // C3
    return c.error() << "updates have the element type " << updates.element
                     << ", expects " << input.element;
  for (int64_t i = 0; i < input.rank(); ++i) {
    if (failed(c.equal(updates.dims[i], indices.dims[i],
                       "size of updates along axis " + Twine(i))))
      return failure();
    if (i != axis && failed(demandAtLeast(c, input.dims[i], indices.dims[i], // C4
                                          "size along axis " + Twine(i))))
      return failure();
  }
  if (trackableCount(indices.dims) != 0 &&
      failed(demandIndices(c, indices, input.dims[axis])))
    return failure();
  std::optional<SmallVector<AffineExpr>> contents;
  if (input.rank() == 1 && getMode() == ScatterMode::replace && indices.contents) {
    contents = trackedElements(input);
    auto values = trackedElements(updates);
    int64_t size = contents ? contents->size() : 0;
    for (auto [i, index] : llvm::enumerate(*indices.contents)) {
      auto at = index ? constantSize(index) : std::nullopt;
      if (!at || !values || *at < -size || *at >= size) {
        contents.reset();
        break;
      }
      (*contents)[*at < 0 ? *at + size : *at] = (*values)[i];
    }
  }
  c.addResult(input.dims, input.element, contents);
  return success();
}

SmallVector<IndexRange> ScatterElementsOp::indexRanges(InferContext &c) {
  AffineExpr size = c.of(getInput()).dims[getAxis()];
  return {{getIndices(), -size, size}};
}

FailureOr<SmallVector<Value>> ScatterElementsOp::lowerToLinalg(LinalgLowering &l) {
  Value size = l.dimValue(getInput(), getAxis());
  return SmallVector<Value>{scatterLoop(
      l, getInput(), getUpdates(), getMode(), [&](IndexMath &m, ValueRange at) {
        SmallVector<Value> position(at);
        Value index = m.fromElement(m.fetch(l.operand(getIndices()), at),
                                    l.element(getIndices()));
        position[getAxis()] = m.clamp(m.wrap(index, size), size);
        return position;
      })};
}

//===----------------------------------------------------------------------===//
// scatter_nd
//===----------------------------------------------------------------------===//

LogicalResult ScatterNdOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), updates = c.of(getUpdates());
  int64_t count = getIndices().size();
  if (count == 0 || count > input.rank()) // C1
    return c.error() << count << " coordinates do not fit rank " << input.rank();
  TensorInfo first = c.of(getIndices().front());
  for (auto [i, indices] : llvm::enumerate(getIndices())) {
    TensorInfo info = c.of(indices);
    if (info.element != first.element || info.rank() != first.rank() ||
        !isa<IntegerType>(info.element)) // C2
      return c.error() << "indices differ in type";
    for (auto [x, y] : llvm::zip(first.dims, info.dims))
      if (failed(c.equal(x, y, "size of indices")))
        return failure();
    if (trackableCount(info.dims) != 0 &&
        failed(demandIndices(c, info, input.dims[i])))
      return failure();
  }
  Shape expected = first.dims;
  expected.append(input.dims.begin() + count, input.dims.end());
  if (updates.element != input.element || updates.rank() != int64_t(expected.size())) // C3
    return c.error() << "updates have rank " << updates.rank() << " and type "
                     << updates.element << ", expects " << expected.size() << " and "
                     << input.element;
  for (auto [i, size] : llvm::enumerate(expected))
    if (failed(c.equal(updates.dims[i], size, "size of updates along axis " + Twine(i))))
      return failure();
  c.addResult(input.dims, input.element);
  return success();
}

SmallVector<IndexRange> ScatterNdOp::indexRanges(InferContext &c) {
  SmallVector<IndexRange> ranges;
  Shape dims = c.of(getInput()).dims;
  for (auto [i, indices] : llvm::enumerate(getIndices()))
    ranges.push_back({indices, -dims[i], dims[i]});
  return ranges;
}

FailureOr<SmallVector<Value>> ScatterNdOp::lowerToLinalg(LinalgLowering &l) {
  SmallVector<Value> sizes;
  for (size_t i = 0; i < getIndices().size(); ++i)
    sizes.push_back(l.dimValue(getInput(), i));
  int64_t indexRank = l.rank(getIndices().front());
  return SmallVector<Value>{scatterLoop(
      l, getInput(), getUpdates(), getMode(), [&](IndexMath &m, ValueRange at) {
        SmallVector<Value> position;
        for (auto [indices, size] : llvm::zip(getIndices(), sizes)) {
          Value stored = m.fetch(l.operand(indices), at.take_front(indexRank));
          Value index = m.fromElement(stored, l.element(indices));
          position.push_back(m.clamp(m.wrap(index, size), size));
        }
        position.append(at.begin() + indexRank, at.end());
        return position;
      })};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {

/// What both ops say about themselves: reading where updates go, and scattering.
struct ScatterAccess {
  function_ref<Value(Value from)> gather;
  function_ref<Value(Value input, Value updates, ScatterMode mode)> scatter;
};

/// Of several updates of one element only the last counts.
std::pair<Value, Value> replaceGradient(GradientBuilder &g, Value input, Value updates, Value dy,
                                        ScatterAccess access) {
  Value count = g.reduce(g.shapeOf(updates), ReduceKind::prod, 0, true);
  Value number = g.reshapeLike(g.iota(count), updates);
  Value none = g.zeros(g.shapeOf(input), number);
  Value isLast = g.compare(Comparison::eq, access.gather(access.scatter(none, number, ScatterMode::replace)), number);
  return {access.scatter(dy, g.zerosLike(updates), ScatterMode::replace),
          g.select(isLast, access.gather(dy), g.zero(dy))};
}

/// All that are equal to the extreme share its gradient.
std::pair<Value, Value> extremeGradient(GradientBuilder &g, Value input, Value updates, Value y,
                                        Value dy, ScatterAccess access) {
  auto equal = [&](Value a, Value b) {
    Value same = g.compare(Comparison::eq, a, b);
    return same ? g.cast(same, elementOf(dy)) : Value();
  };
  Value isInput = equal(input, y), isUpdate = equal(updates, access.gather(y));
  Value share = g.div(dy, access.scatter(isInput, isUpdate, ScatterMode::add));
  return {g.mul(isInput, share), g.mul(isUpdate, access.gather(share))};
}

FailureOr<std::pair<Value, Value>> scatterGradient(GradientBuilder &g, ScatterMode mode, Value input,
                                                   Value updates, Value y, Value dy,
                                                   ScatterAccess access) {
  switch (mode) {
  case ScatterMode::add:
    return std::pair(dy, access.gather(dy));
  case ScatterMode::replace:
    return replaceGradient(g, input, updates, dy, access);
  case ScatterMode::min:
  case ScatterMode::max:
    return extremeGradient(g, input, updates, y, dy, access);
  case ScatterMode::mul:
    if (g.needs(updates))
      return g.refuse("mode mul, by its updates");
    return std::pair(access.scatter(dy, updates, mode), Value());
  }
  llvm_unreachable("no such mode");
}

} // namespace

FailureOr<SmallVector<Value>> ScatterElementsOp::buildGradient(GradientBuilder &g,
                                                               ArrayRef<Value> grads) {
  auto gather = [&](Value from) {
    return g.make<GatherElementsOp>(from, getIndices(), getAxisAttr());
  };
  auto scatter = [&](Value input, Value updates, ScatterMode mode) {
    return g.make<ScatterElementsOp>(input, getIndices(), updates, getAxis(), mode);
  };
  auto both = scatterGradient(g, getMode(), getInput(), getUpdates(), getResult(), grads[0],
                              {gather, scatter});
  if (failed(both))
    return failure();
  return SmallVector<Value>{both->first, Value(), both->second};
}

FailureOr<SmallVector<Value>> ScatterNdOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  auto gather = [&](Value from) {
    return g.make<GatherNdOp>(from, getIndices(), g.b.getI64IntegerAttr(0));
  };
  auto scatter = [&](Value input, Value updates, ScatterMode mode) {
    return g.make<ScatterNdOp>(input, updates, getIndices(), mode);
  };
  auto both = scatterGradient(g, getMode(), getInput(), getUpdates(), getResult(), grads[0],
                              {gather, scatter});
  if (failed(both))
    return failure();
  SmallVector<Value> result(getNumOperands());
  result[0] = both->first;
  result[1] = both->second;
  return result;
}

} // namespace dlc::dl
