// What convolutions mean: shape, verification, lowering, layout and cost.

#include "dialects/dl/ops/Conv.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/LinalgLowering.h"
#include "dialects/dl/ScalarMath.h"
#include "dialects/dl/ops/ConvGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Conv.cpp.inc"

namespace dlc::dl {

void registerConvOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Conv.cpp.inc"
      >();
}

namespace {

/// What both convolutions demand of their attributes (C1 and C4 / C3).
template <typename Op>
LogicalResult checkGeometry(Op op, InferContext &c, const TensorInfo &input,
                            const TensorInfo &filter) {
  if (input.rank() < 3 || input.rank() > 5 || filter.rank() != input.rank())
    return c.error() << "input has rank " << input.rank() << " and filter rank "
                     << filter.rank() << ", expects the same, 3 to 5";
  if (input.element != filter.element)
    return c.error() << "input is " << input.element << " and filter " << filter.element;
  size_t spatial = input.rank() - 2;
  if (op.getStrides().size() != spatial || op.getDilations().size() != spatial ||
      op.getPads().size() != 2 * spatial)
    return c.error() << "has " << op.getStrides().size() << " strides, "
                     << op.getDilations().size() << " dilations and "
                     << op.getPads().size() << " pads for " << spatial
                     << " spatial axes";
  auto positive = [](int64_t v) { return v > 0 && v < (int64_t(1) << 31); };
  auto nonNegative = [](int64_t v) { return v >= 0 && v < (int64_t(1) << 31); };
  if (!llvm::all_of(op.getStrides(), positive))
    return c.error() << "strides must be positive";
  if (!llvm::all_of(op.getDilations(), positive))
    return c.error() << "dilations must be positive";
  if (!llvm::all_of(op.getPads(), nonNegative))
    return c.error() << "pads must not be negative";
  if (op.getGroups() < 1)
    return c.error() << "groups is " << op.getGroups() << ", expects at least 1";
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// dl.conv
//===----------------------------------------------------------------------===//

LogicalResult ConvOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), filter = c.of(getFilter());
  if (failed(checkGeometry(*this, c, input, filter))) // C1, C4
    return failure();
  int64_t groups = getGroups();
  if (failed(c.equal(input.dims[channelAxis()], filter.dims[1] * groups,
                     "input channels and filter channels times groups"))) // C2
    return failure();
  if (auto out = constantSize(filter.dims[0]); out && *out % groups != 0) // C3
    return c.error() << "filter has " << *out << " output channels, not a multiple of "
                     << groups << " groups";
  Shape dims(input.rank());
  dims[0] = input.dims[0];
  dims[channelAxis()] = filter.dims[0];
  for (int64_t axis = 0; axis < spatialRank(); ++axis) {
    AffineExpr window = (filter.dims[2 + axis] - 1) * getDilations()[axis] + 1;
    AffineExpr room = input.dims[spatialAxis() + axis] + getPads()[axis] +
                      getPads()[axis + spatialRank()] - window;
    if (auto size = constantSize(room); size && *size < 0) // C5
      return c.error() << "filter is larger than the padded input along spatial axis "
                       << axis;
    dims[spatialAxis() + axis] = room.floorDiv(getStrides()[axis]) + 1;
  }
  c.addResult(dims, input.element);
  return success();
}

FusionRole ConvOp::fusionRole() { return FusionRole::Contraction; }

FailureOr<SmallVector<Value>> ConvOp::lowerToLinalg(LinalgLowering &l) {
  int64_t spatial = spatialRank(), groups = getGroups();
  OpBuilder &b = l.b;
  Value input = l.operand(getInput());
  Type stored = l.type(getInput()).getElementType();
  // Pad once, so that the loops below need no bounds.
  if (llvm::any_of(getPads(), [](int64_t p) { return p != 0; })) {
    SmallVector<OpFoldResult> low(spatial + 2, b.getIndexAttr(0)), high = low;
    for (int64_t axis = 0; axis < spatial; ++axis) {
      low[spatialAxis() + axis] = b.getIndexAttr(getPads()[axis]);
      high[spatialAxis() + axis] = b.getIndexAttr(getPads()[axis + spatial]);
    }
    input = tensor::PadOp::create(b, l.loc, Type(), input, low, high,
                                  l.scalar(stored, 0));
  }
  // Loops: n, o, spatial.., c, kernel..
  int64_t loops = 2 + spatial + 1 + spatial;
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
  AffineExpr n = dim(0), o = dim(1), ch = dim(2 + spatial);
  auto filterType = cast<RankedTensorType>(getFilter().getType());
  if (groups > 1 && (filterType.isDynamicDim(0) || filterType.isDynamicDim(1)))
    return emitOpError("unsupported: groups with a filter of dynamic size");
  AffineExpr inChannel = ch;
  if (groups > 1)
    inChannel = o.floorDiv(filterType.getDimSize(0) / groups) * filterType.getDimSize(1) + ch;
  SmallVector<AffineExpr> inMap(spatial + 2), outMap(spatial + 2), filterMap = {o, ch};
  inMap[0] = outMap[0] = n;
  inMap[channelAxis()] = inChannel;
  outMap[channelAxis()] = o;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    AffineExpr y = dim(2 + axis), k = dim(3 + spatial + axis);
    inMap[spatialAxis() + axis] = y * getStrides()[axis] + k * getDilations()[axis];
    outMap[spatialAxis() + axis] = y;
    filterMap.push_back(k);
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  SmallVector<utils::IteratorType> kinds(2 + spatial, utils::IteratorType::parallel);
  kinds.append(1 + spatial, utils::IteratorType::reduction);
  return l.accumulate({input, l.operand(getFilter())}, getResult(),
                      {map(inMap), map(filterMap), map(outMap)}, kinds,
                      [&](ScalarMath &m, ValueRange x) { return m.multiply(x[0], x[1]); });
}

bool ConvOp::prefersChannelsLast() { return !getChannelsLast() && spatialRank() <= 2; }

bool ConvOp::permutesOperand(unsigned operand) { return operand == 0; }

FailureOr<SmallVector<Value>> ConvOp::permuteLayout(OpBuilder &b, ValueRange operands,
                                                    ArrayRef<int64_t> perm) {
  if (getChannelsLast() || !movesChannelsLast(perm))
    return failure();
  auto conv = make<ConvOp>(b, getLoc(), operands[0], operands[1], getStridesAttr(),
                           getDilationsAttr(), getPadsAttr(), getGroupsAttr(),
                           b.getUnitAttr());
  if (!conv)
    return failure();
  return SmallVector<Value>{conv};
}

AffineExpr ConvOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  AffineExpr outputs = product(dims(getResult()), getContext());
  AffineExpr taps = product(dims(getFilter()).drop_front(), getContext());
  return outputs * taps * 2; // One multiply and one add per tap.
}

namespace {

/// d(loss)/d(filter) where `input` was convolved to the shape of `grad`.
Value filterGradient(GradientBuilder &g, Value input, Value grad, Value filter,
                     ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                     ArrayRef<int64_t> pads, int64_t groups) {
  auto type = cast<RankedTensorType>(filter.getType());
  ArrayRef<int64_t> kernel = type.getShape().drop_front(2);
  if (llvm::any_of(kernel, ShapedType::isDynamic)) {
    (void)g.refuse("the filter's spatial sizes are not static");
    return {};
  }
  return g.make<ConvFilterGradientOp>(input, grad, kernel, strides, dilations, pads, groups, false);
}

} // namespace

// What a transposed convolution leaves open is how far the input reached beyond
// the last whole stride: that is its output_padding.
Value convDataGradient(GradientBuilder &g, Value input, Value grad, Value filter,
                       ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                       ArrayRef<int64_t> pads, int64_t groups) {
  auto inType = cast<RankedTensorType>(input.getType());
  auto filterType = cast<RankedTensorType>(filter.getType());
  SmallVector<int64_t> rest;
  for (auto [axis, stride] : llvm::enumerate(strides)) {
    int64_t size = inType.getDimSize(2 + axis), taps = filterType.getDimSize(2 + axis);
    if (stride == 1) {
      rest.push_back(0);
      continue;
    }
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(taps)) {
      (void)g.refuse("stride " + Twine(stride) + " on a spatial axis of symbolic size");
      return {};
    }
    int64_t window = (taps - 1) * dilations[axis] + 1;
    rest.push_back((size + pads[axis] + pads[axis + strides.size()] - window) % stride);
  }
  return g.make<ConvTransposeOp>(grad, filter, strides, dilations, pads, ArrayRef<int64_t>(rest), groups);
}

FailureOr<SmallVector<Value>> ConvOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  if (getChannelsLast())
    return g.refuse("channels-last is made by the layout passes, after differentiation");
  Value dx, dw;
  if (g.needs(getInput()))
    dx = convDataGradient(g, getInput(), grads[0], getFilter(), getStrides(), getDilations(),
                          getPads(), getGroups());
  if (g.needs(getFilter()))
    dw = filterGradient(g, getInput(), grads[0], getFilter(), getStrides(), getDilations(), getPads(),
                        getGroups());
  return SmallVector<Value>{dx, dw};
}

//===----------------------------------------------------------------------===//
// dl.conv_transpose
//===----------------------------------------------------------------------===//

LogicalResult ConvTransposeOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), filter = c.of(getFilter());
  if (failed(checkGeometry(*this, c, input, filter))) // C1, C3
    return failure();
  int64_t spatial = input.rank() - 2;
  if (int64_t(getOutputPadding().size()) != spatial ||
      llvm::any_of(getOutputPadding(), [](int64_t p) { return p < 0; })) // C3
    return c.error() << "output_padding must hold one size per spatial axis";
  auto channels = c.equal(input.dims[1], filter.dims[0], "input and filter channels");
  if (failed(channels)) // C2
    return failure();
  if (auto size = constantSize(*channels); size && *size % getGroups() != 0)
    return c.error() << "input has " << *size << " channels, not a multiple of "
                     << getGroups() << " groups";
  Shape dims = {input.dims[0], filter.dims[1] * int64_t(getGroups())};
  for (int64_t axis = 0; axis < spatial; ++axis)
    dims.push_back((input.dims[2 + axis] - 1) * getStrides()[axis] +
                   getOutputPadding()[axis] +
                   (filter.dims[2 + axis] - 1) * getDilations()[axis] + 1 -
                   getPads()[axis] - getPads()[axis + spatial]);
  c.addResult(dims, input.element);
  return success();
}

FusionRole ConvTransposeOp::fusionRole() { return FusionRole::Contraction; }

// Gathers instead of scattering: every output element sums the taps that reach
// it, so that outputs can be computed in parallel.
FailureOr<SmallVector<Value>> ConvTransposeOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  int64_t spatial = l.rank(getInput()) - 2, groups = getGroups();
  auto filterType = cast<RankedTensorType>(getFilter().getType());
  if (!filterType.hasStaticShape())
    return emitOpError("unsupported: a filter of dynamic size");
  int64_t inPerGroup = filterType.getDimSize(0) / groups;
  int64_t outPerGroup = filterType.getDimSize(1);
  Value input = l.operand(getInput()), filter = l.operand(getFilter());
  int64_t loops = 2 + spatial + 1 + spatial; // n, o, y.., c, k..
  auto outMap = AffineMap::getMultiDimIdentityMap(2 + spatial, b.getContext());
  outMap = AffineMap::get(loops, 0, outMap.getResults(), b.getContext());
  SmallVector<utils::IteratorType> kinds(2 + spatial, utils::IteratorType::parallel);
  kinds.append(1 + spatial, utils::IteratorType::reduction);
  // The loop bounds of c and k come from a tensor that is never read.
  SmallVector<OpFoldResult> bounds = {b.getIndexAttr(inPerGroup)};
  SmallVector<AffineExpr> boundsMap = {b.getAffineDimExpr(2 + spatial)};
  for (int64_t axis = 0; axis < spatial; ++axis) {
    bounds.push_back(b.getIndexAttr(filterType.getDimSize(2 + axis)));
    boundsMap.push_back(b.getAffineDimExpr(3 + spatial + axis));
  }
  Value shape = l.empty(bounds, b.getI8Type());
  Type element = l.element(getInput());
  auto body = [&](ScalarMath &m, ValueRange) -> Value {
    auto index = [&](int64_t loop) -> Value {
      return linalg::IndexOp::create(m.b, m.loc, loop);
    };
    auto constant = [&](int64_t v) -> Value {
      return arith::ConstantIndexOp::create(m.b, m.loc, v);
    };
    Value group = arith::DivUIOp::create(m.b, m.loc, index(1), constant(outPerGroup));
    Value outChannel = arith::RemUIOp::create(m.b, m.loc, index(1), constant(outPerGroup));
    Value inChannel = arith::AddIOp::create(
        m.b, m.loc, arith::MulIOp::create(m.b, m.loc, group, constant(inPerGroup)),
        index(2 + spatial));
    SmallVector<Value> at = {index(0), inChannel}, tap = {inChannel, outChannel};
    Value inside;
    for (int64_t axis = 0; axis < spatial; ++axis) {
      // y + pad - k*d must be a multiple of the stride, within the input.
      Value k = index(3 + spatial + axis);
      Value position = arith::SubIOp::create(
          m.b, m.loc,
          arith::AddIOp::create(m.b, m.loc, index(2 + axis), constant(getPads()[axis])),
          arith::MulIOp::create(m.b, m.loc, k, constant(getDilations()[axis])));
      Value stride = constant(getStrides()[axis]);
      Value source = arith::DivSIOp::create(m.b, m.loc, position, stride);
      Value back = arith::MulIOp::create(m.b, m.loc, source, stride);
      Value exact = arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::eq, back, position);
      Value size = l.dimValue(getInput(), 2 + axis);
      Value fits = arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::ult, source, size);
      Value ok = arith::AndIOp::create(m.b, m.loc, exact, fits);
      inside = inside ? arith::AndIOp::create(m.b, m.loc, inside, ok).getResult() : ok;
      at.push_back(arith::SelectOp::create(m.b, m.loc, ok, source, constant(0)));
      tap.push_back(k);
    }
    Value x = toCompute(m.b, m.loc, tensor::ExtractOp::create(m.b, m.loc, input, at), element);
    Value w = toCompute(m.b, m.loc, tensor::ExtractOp::create(m.b, m.loc, filter, tap), element);
    Value product = m.multiply(x, w);
    return m.select(inside, product, m.constant(product.getType(), 0));
  };
  // Sizes are needed inside the body; they must be computed outside of it.
  for (int64_t axis = 0; axis < spatial; ++axis)
    (void)l.dimValue(getInput(), 2 + axis);
  return l.accumulate({shape}, getResult(),
                      {AffineMap::get(loops, 0, boundsMap, b.getContext()), outMap}, kinds,
                      body);
}

AffineExpr ConvTransposeOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  AffineExpr inputs = product(dims(getInput()), getContext());
  AffineExpr taps = product(dims(getFilter()).drop_front(), getContext());
  return inputs * taps * 2;
}

// The adjoint of an adjoint: dx is the convolution of dy, whose output_padding
// the last stride does not reach; in dw the roles of x and dy are swapped.
FailureOr<SmallVector<Value>> ConvTransposeOp::buildGradient(GradientBuilder &g,
                                                             ArrayRef<Value> grads) {
  for (auto [padding, stride] : llvm::zip(getOutputPadding(), getStrides()))
    if (padding >= stride)
      return g.refuse("output_padding " + Twine(padding) + " is not below the stride " + Twine(stride));
  Value dx = g.make<ConvOp>(grads[0], getFilter(), getStridesAttr(), getDilationsAttr(), getPadsAttr(),
                            getGroupsAttr(), UnitAttr());
  Value dw;
  if (g.needs(getFilter()))
    dw = filterGradient(g, grads[0], getInput(), getFilter(), getStrides(), getDilations(), getPads(),
                        getGroups());
  return SmallVector<Value>{dx, dw};
}

} // namespace dlc::dl
