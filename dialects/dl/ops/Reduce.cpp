// What reductions mean: shape and lowering.

#include "dialects/dl/ops/Reduce.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/LinalgLowering.h"
#include "dialects/dl/ops/Sequence.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Reduce.cpp.inc"

namespace dlc::dl {

void registerReduceOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Reduce.cpp.inc"
      >();
}

namespace {

using utils::IteratorType;

/// The result's shape: reduced axes are 1 or gone.
Shape reducedDims(InferContext &c, const TensorInfo &input, ArrayRef<int64_t> axes,
                  bool keepDims) {
  Shape dims;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    if (!llvm::is_contained(axes, axis))
      dims.push_back(input.dims[axis]);
    else if (keepDims)
      dims.push_back(c.constant(1));
  }
  return dims;
}

LogicalResult checkAxes(InferContext &c, ArrayRef<int64_t> axes, int64_t rank) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t axis : axes)
    if (axis < 0 || axis >= rank || !seen.insert(axis).second)
      return c.error() << "axis " << axis << " is outside the rank " << rank
                       << " or given twice";
  return success();
}

/// Loops over the input's axes and the map of the reduced result.
struct ReductionLoops {
  ReductionLoops(OpBuilder &b, int64_t rank, ArrayRef<int64_t> axes, bool keepDims)
      : kinds(rank, IteratorType::parallel) {
    SmallVector<AffineExpr> out;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (!llvm::is_contained(axes, axis)) {
        out.push_back(b.getAffineDimExpr(axis));
        continue;
      }
      kinds[axis] = IteratorType::reduction;
      if (keepDims)
        out.push_back(b.getAffineConstantExpr(0));
    }
    input = b.getMultiDimIdentityMap(rank);
    output = AffineMap::get(rank, 0, out, b.getContext());
  }
  SmallVector<IteratorType> kinds;
  AffineMap input, output;
};

/// The lowest (or highest) value of a compute type.
Value extremeValue(LinalgLowering &l, Type element, bool lowest) {
  Type type = computeType(element);
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        l.b, l.loc,
        l.b.getFloatAttr(type, APFloat::getInf(floatType.getFloatSemantics(), lowest)));
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  APInt value = isUnsigned ? (lowest ? APInt::getMinValue(width) : APInt::getMaxValue(width))
                           : (lowest ? APInt::getSignedMinValue(width)
                                     : APInt::getSignedMaxValue(width));
  return arith::ConstantOp::create(l.b, l.loc, l.b.getIntegerAttr(type, value));
}

} // namespace

//===----------------------------------------------------------------------===//
// dl.reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  if (failed(checkAxes(c, getAxes(), input.rank()))) // C1
    return failure();
  std::optional<SmallVector<AffineExpr>> contents;
  bool isWhole = int64_t(getAxes().size()) == input.rank();
  if (isWhole && input.contents && getKind() == ReduceKind::prod &&
      !llvm::is_contained(*input.contents, AffineExpr()))
    contents = {product(*input.contents, c.context())};
  c.addResult(reducedDims(c, input, getAxes(), getKeepDims()), input.element, contents);
  return success();
}

FusionRole ReduceOp::fusionRole() { return FusionRole::Reduction; }

FailureOr<SmallVector<Value>> ReduceOp::lowerToLinalg(LinalgLowering &l) {
  Type element = l.element(getInput());
  int64_t rank = l.rank(getInput());
  ReductionLoops loops(l.b, rank, getAxes(), getKeepDims());
  ReduceKind kind = getKind();
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  Value start;
  if (kind == ReduceKind::max || kind == ReduceKind::min)
    start = extremeValue(l, element, kind == ReduceKind::max);
  else
    start = l.scalar(computeType(element), kind == ReduceKind::prod ? 1 : 0);
  Value init = l.filled(l.dims(getResult()), start);
  Value reduced = l.generic(
      {l.operand(getInput())}, init, {loops.input, loops.output}, loops.kinds,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        ScalarMath m{b, loc, isUnsigned};
        Value x = toCompute(b, loc, args[0], element);
        switch (kind) {
        case ReduceKind::max: return m.maximum(args[1], x);
        case ReduceKind::min: return m.minimum(args[1], x);
        case ReduceKind::prod: return m.multiply(args[1], x);
        case ReduceKind::sum_square: return m.add(args[1], m.multiply(x, x));
        default: return m.add(args[1], x);
        }
      });
  if (kind == ReduceKind::mean) {
    Value count = l.index(1);
    for (int64_t axis : getAxes())
      count = arith::MulIOp::create(l.b, l.loc, count, l.dimValue(getInput(), axis));
    Type compute = computeType(element);
    Value asInteger = arith::IndexCastOp::create(l.b, l.loc, l.b.getI64Type(), count);
    Value divisor = asInteger;
    if (isa<FloatType>(compute))
      divisor = arith::SIToFPOp::create(l.b, l.loc, compute, asInteger);
    else if (compute != l.b.getI64Type())
      divisor = arith::TruncIOp::create(l.b, l.loc, compute, asInteger);
    reduced = l.map({reduced}, getResult(), [&](OpBuilder &b, Location loc, ValueRange x) {
      ScalarMath m{b, loc, isUnsigned};
      return toStorage(b, loc, m.divide(x[0], divisor), element);
    });
    return SmallVector<Value>{reduced};
  }
  return SmallVector<Value>{l.toStored(reduced, getResult())};
}

namespace {

/// d(loss)/d(x) of y = the product of x along one axis, which it keeps: each
/// element's share is the product of all others, from both sides.
Value productGradient(GradientBuilder &g, Value x, int64_t axis, Value dy) {
  Value at = g.constantOf(g.b.getI64Type(), axis);
  auto others = [&](bool reverse) {
    return g.make<CumulateOp>(x, at, g.b.getUnitAttr(), g.b.getUnitAttr(),
                              reverse ? g.b.getUnitAttr() : UnitAttr());
  };
  return g.mul(dy, g.mul(others(false), others(true)));
}

} // namespace

FailureOr<SmallVector<Value>> ReduceOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value x = getInput(), dy = g.keepAxes(grads[0], x, getAxes());
  switch (getKind()) {
  case ReduceKind::sum:
    return SmallVector<Value>{g.expandLike(dy, x)};
  case ReduceKind::mean:
    return SmallVector<Value>{g.expandLike(g.div(dy, g.countOf(x, getAxes())), x)};
  case ReduceKind::sum_square:
    return SmallVector<Value>{g.mul(g.scale(x, 2), dy)};
  case ReduceKind::max:
  case ReduceKind::min: {
    // Elements that are equal share the gradient.
    Value y = g.keepAxes(getResult(), x, getAxes());
    Value isChosen = g.compare(Comparison::eq, x, y);
    Value chosen = g.cast(isChosen, elementOf(x));
    return SmallVector<Value>{g.mul(chosen, g.div(dy, g.sum(chosen, getAxes(), true)))};
  }
  case ReduceKind::prod: {
    // One axis after the other, as a chain.
    SmallVector<Value> chain = {x};
    for (int64_t axis : getAxes())
      chain.push_back(g.reduce(chain.back(), ReduceKind::prod, axis, true));
    for (int64_t i = getAxes().size(); i-- > 0;)
      dy = productGradient(g, chain[i], getAxes()[i], dy);
    return SmallVector<Value>{dy};
  }
  }
  llvm_unreachable("no such kind");
}

FailureOr<SmallVector<Value>> ReduceOp::permuteLayout(OpBuilder &b, ValueRange operands,
                                                      ArrayRef<int64_t> perm) {
  if (!getKeepDims())
    return failure();
  SmallVector<int64_t> axes;
  for (auto [to, from] : llvm::enumerate(perm))
    if (llvm::is_contained(getAxes(), from))
      axes.push_back(to);
  auto op = make<ReduceOp>(b, getLoc(), operands[0], getKindAttr(),
                           b.getDenseI64ArrayAttr(axes), getKeepDimsAttr());
  if (!op)
    return failure();
  return SmallVector<Value>{op};
}

//===----------------------------------------------------------------------===//
// dl.arg_reduce
//===----------------------------------------------------------------------===//

LogicalResult ArgReduceOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  int64_t axis = getAxis();
  if (failed(checkAxes(c, axis, input.rank()))) // C1
    return failure();
  c.addResult(reducedDims(c, input, axis, getKeepDims()), IntegerType::get(c.context(), 64));
  return success();
}

FusionRole ArgReduceOp::fusionRole() { return FusionRole::Opaque; }

FailureOr<SmallVector<Value>> ArgReduceOp::lowerToLinalg(LinalgLowering &l) {
  Type element = l.element(getInput());
  Type compute = computeType(element);
  int64_t axis = getAxis();
  ReductionLoops loops(l.b, l.rank(getInput()), axis, getKeepDims());
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  // One op with two results: the best value so far and where it was.
  Value bestInit = l.filled(l.dims(getResult()), extremeValue(l, element, getLargest()));
  Value indexInit = l.filled(l.dims(getResult()), l.scalar(l.b.getI64Type(), 0));
  auto op = linalg::GenericOp::create(
      l.b, l.loc, TypeRange{bestInit.getType(), indexInit.getType()},
      ValueRange{l.operand(getInput())}, ValueRange{bestInit, indexInit},
      ArrayRef<AffineMap>{loops.input, loops.output, loops.output}, loops.kinds,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ScalarMath m{b, loc, isUnsigned};
        Value x = toCompute(b, loc, args[0], element), best = args[1];
        Value position = arith::IndexCastOp::create(
            b, loc, b.getI64Type(), linalg::IndexOp::create(b, loc, axis));
        Comparison strict = getLargest() ? Comparison::gt : Comparison::lt;
        Comparison loose = getLargest() ? Comparison::ge : Comparison::le;
        Value better = m.compare(getSelectLast() ? loose : strict, x, best);
        Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
        Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position, zero);
        if (isa<FloatType>(compute)) {
          auto isNan = [&](Value v) -> Value {
            return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, v, v);
          };
          Value bestIsNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best);
          Value finds = arith::AndIOp::create(b, loc, isNan(x), bestIsNumber);
          better = arith::OrIOp::create(
              b, loc, finds, arith::AndIOp::create(b, loc, better, bestIsNumber));
        }
        Value take = arith::OrIOp::create(b, loc, better, isFirst);
        linalg::YieldOp::create(b, loc, ValueRange{m.select(take, x, best),
                                                   m.select(take, position, args[2])});
      });
  return SmallVector<Value>{op.getResult(1)};
}

//===----------------------------------------------------------------------===//
// dl.softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput());
  int64_t axis = getAxis();
  if (failed(checkAxes(c, axis, input.rank()))) // C1
    return failure();
  if (!isa<FloatType>(input.element)) // C2
    return c.error() << "takes floats, not " << input.element;
  c.addResult(input.dims, input.element);
  return success();
}

FusionRole SoftmaxOp::fusionRole() { return FusionRole::Reduction; }

FailureOr<SmallVector<Value>> SoftmaxOp::lowerToLinalg(LinalgLowering &l) {
  Type element = l.element(getInput()), compute = computeType(element);
  int64_t rank = l.rank(getInput()), axis = getAxis();
  ReductionLoops loops(l.b, rank, axis, /*keepDims=*/false);
  SmallVector<OpFoldResult> sizes = l.dims(getInput()), rowSizes = sizes;
  rowSizes.erase(rowSizes.begin() + axis);
  SmallVector<IteratorType> parallel(rank, IteratorType::parallel);
  AffineMap all = loops.input, row = loops.output;
  Value x = l.operand(getInput());
  Value lowest = extremeValue(l, element, true);
  Value most = l.generic({x}, l.filled(rowSizes, lowest), {all, row}, loops.kinds,
                         [&](OpBuilder &b, Location loc, ValueRange args) {
                           ScalarMath m{b, loc, false};
                           return m.maximum(args[1], toCompute(b, loc, args[0], element));
                         });
  bool isLog = getIsLog();
  // x - max, and for softmax its exponential. Softmax rounds narrow floats after
  // each step, as ONNX's reference does; rounding once differs by 2 ulp.
  Type kept = isLog ? compute : l.type(getInput()).getElementType();
  auto round = [&](OpBuilder &b, Location loc, Value v) {
    return isLog ? v : toStorage(b, loc, v, element);
  };
  auto widen = [&](OpBuilder &b, Location loc, Value v) {
    return isLog ? v : toCompute(b, loc, v, element);
  };
  Value shifted = l.generic({x, most}, l.empty(sizes, kept), {all, row, all}, parallel,
                            [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                              ScalarMath m{b, loc, false};
                              Value d = m.subtract(toCompute(b, loc, args[0], element), args[1]);
                              if (isLog)
                                return d;
                              d = widen(b, loc, round(b, loc, d));
                              return round(b, loc, math::ExpOp::create(b, loc, d));
                            });
  Value sum = l.generic({shifted}, l.filled(rowSizes, l.scalar(compute, 0)), {all, row},
                        loops.kinds, [&](OpBuilder &b, Location loc, ValueRange args) {
                          ScalarMath m{b, loc, false};
                          Value term = isLog ? Value(math::ExpOp::create(b, loc, args[0]))
                                             : widen(b, loc, args[0]);
                          return m.add(args[1], term);
                        });
  Value result = l.generic(
      {shifted, sum}, l.empty(getResult()), {all, row, all}, parallel,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ScalarMath m{b, loc, false};
        Value y = isLog ? m.subtract(args[0], math::LogOp::create(b, loc, args[1]))
                        : m.divide(widen(b, loc, args[0]), widen(b, loc, round(b, loc, args[1])));
        return toStorage(b, loc, y, element);
      });
  return SmallVector<Value>{result};
}

// y = softmax(x): dx = y * (dy - sum(dy * y)); y = log softmax(x): dx = dy - e^y * sum(dy).
FailureOr<SmallVector<Value>> SoftmaxOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  Value dy = grads[0], y = getResult();
  int64_t axis = getAxis();
  if (getIsLog())
    return SmallVector<Value>{g.sub(dy, g.mul(g.exp(y), g.sum(dy, axis, true)))};
  return SmallVector<Value>{g.mul(y, g.sub(dy, g.sum(g.mul(dy, y), axis, true)))};
}

} // namespace dlc::dl
