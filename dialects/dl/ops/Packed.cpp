// What packed contractions mean. Targets with register-tile kernels take them
// whole; the linalg here is the definition they are tested against.

#include "dialects/dl/ops/Packed.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Packed.cpp.inc"

namespace dlc::dl {

void registerPackedOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Packed.cpp.inc"
      >();
}

namespace {

using utils::IteratorType;

SmallVector<IteratorType> loopKinds(int64_t parallel, int64_t reduction) {
  SmallVector<IteratorType> kinds(parallel, IteratorType::parallel);
  kinds.append(reduction, IteratorType::reduction);
  return kinds;
}

/// Sizes of the spatial axes of a convolution's result.
LogicalResult inferSpatial(InferContext &c, Shape &dims, ArrayRef<AffineExpr> kernel,
                           ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                           ArrayRef<int64_t> pads) {
  size_t spatial = strides.size();
  if (dilations.size() != spatial || pads.size() != 2 * spatial)
    return c.error() << "has " << spatial << " strides, " << dilations.size()
                     << " dilations and " << pads.size() << " pads";
  for (size_t axis = 0; axis < spatial; ++axis) {
    AffineExpr window = (kernel[axis] - 1) * dilations[axis] + 1;
    AffineExpr room = dims[1 + axis] + pads[axis] + pads[axis + spatial] - window;
    if (auto size = constantSize(room); size && *size < 0)
      return c.error() << "filter is larger than the padded input";
    dims[1 + axis] = room.floorDiv(strides[axis]) + 1;
  }
  return success();
}

/// `input` (N,spatial..,C) padded with zeros.
Value padSpatial(LinalgLowering &l, Value input, ArrayRef<int64_t> pads) {
  if (llvm::all_of(pads, [](int64_t p) { return p == 0; }))
    return input;
  size_t spatial = pads.size() / 2;
  SmallVector<OpFoldResult> low(spatial + 2, l.b.getIndexAttr(0)), high = low;
  for (size_t axis = 0; axis < spatial; ++axis) {
    low[1 + axis] = l.b.getIndexAttr(pads[axis]);
    high[1 + axis] = l.b.getIndexAttr(pads[axis + spatial]);
  }
  Type stored = cast<RankedTensorType>(input.getType()).getElementType();
  return tensor::PadOp::create(l.b, l.loc, Type(), input, low, high, l.scalar(stored, 0));
}

Value multiplyTerms(ScalarMath &m, ValueRange x) { return m.multiply(x[0], x[1]); }

} // namespace

//===----------------------------------------------------------------------===//
// dl.pack_filter
//===----------------------------------------------------------------------===//

LogicalResult PackFilterOp::inferTypes(InferContext &c) {
  TensorInfo filter = c.of(getFilter());
  int64_t groups = getGroups(), block = getBlock();
  auto out = filter.rank() >= 2 ? constantSize(filter.dims[0]) : std::nullopt;
  if (!out || groups < 1 || block < 1 || *out % groups != 0) // C1
    return c.error() << "cannot pack this filter into " << groups << " groups of blocks of "
                     << block;
  Shape dims = {c.constant(groups * ((*out / groups + block - 1) / block))};
  dims.append(filter.dims.begin() + 2, filter.dims.end());
  dims.push_back(filter.dims[1]);
  dims.push_back(c.constant(block));
  c.addResult(dims, filter.element);
  return success();
}

FusionRole PackFilterOp::fusionRole() { return FusionRole::Opaque; }

FailureOr<SmallVector<Value>> PackFilterOp::lowerToLinalg(LinalgLowering &l) {
  auto type = cast<RankedTensorType>(getFilter().getType());
  int64_t perGroup = type.getDimSize(0) / getGroups(), block = getBlock();
  int64_t blocks = (perGroup + block - 1) / block;
  Value filter = l.operand(getFilter());
  Type stored = l.type(getFilter()).getElementType();
  int64_t rank = l.rank(getResult()), taps = rank - 3;
  Value result = l.map({}, getResult(), [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    ScalarMath m{b, loc, false};
    auto index = [&](int64_t i) -> Value { return linalg::IndexOp::create(b, loc, i); };
    auto constant = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
    auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
    auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
    Value group = arith::DivUIOp::create(b, loc, index(0), constant(blocks));
    Value inGroup = arith::RemUIOp::create(b, loc, index(0), constant(blocks));
    Value channel = add(mul(inGroup, constant(block)), index(rank - 1));
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, channel,
                                         constant(perGroup));
    Value safe = arith::SelectOp::create(b, loc, exists, channel, constant(0));
    SmallVector<Value> at = {add(mul(group, constant(perGroup)), safe), index(rank - 2)};
    for (int64_t tap = 0; tap < taps; ++tap)
      at.push_back(index(1 + tap));
    Value element = tensor::ExtractOp::create(b, loc, filter, at);
    return m.select(exists, element, m.constant(stored, 0));
  });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// dl.packed_conv
//===----------------------------------------------------------------------===//

LogicalResult PackedConvOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), filter = c.of(getFilter());
  int64_t spatial = spatialRank();
  if (spatial < 1 || spatial > 2 || input.rank() != spatial + 2 ||
      filter.rank() != spatial + 3) // C1
    return c.error() << "input has rank " << input.rank() << " and filter rank "
                     << filter.rank() << " for " << spatial << " spatial axes";
  if (failed(c.equal(input.dims.back(), filter.dims[spatial + 1] * int64_t(getGroups()),
                     "input channels and filter channels times groups"))) // C2
    return failure();
  Shape dims = input.dims;
  if (failed(inferSpatial(c, dims, ArrayRef<AffineExpr>(filter.dims).slice(1, spatial),
                          getStrides(), getDilations(), getPads())))
    return failure();
  dims.back() = c.constant(getOutChannels());
  c.addResult(dims, input.element);
  return success();
}

FusionRole PackedConvOp::fusionRole() { return FusionRole::Contraction; }

FailureOr<SmallVector<Value>> PackedConvOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  int64_t spatial = spatialRank(), groups = getGroups();
  auto filterType = cast<RankedTensorType>(getFilter().getType());
  int64_t block = filterType.getShape().back(), in = filterType.getDimSize(spatial + 1);
  int64_t perGroup = getOutChannels() / groups, blocks = (perGroup + block - 1) / block;
  // Loops: n, y.., o, k.., c.
  int64_t loops = 2 * spatial + 3;
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
  AffineExpr o = dim(spatial + 1), ch = dim(loops - 1);
  AffineExpr group = o.floorDiv(perGroup), inGroup = o % perGroup;
  SmallVector<AffineExpr> inMap = {dim(0)}, outMap = {dim(0)},
                          filterMap = {group * blocks + inGroup.floorDiv(block)};
  for (int64_t axis = 0; axis < spatial; ++axis) {
    AffineExpr k = dim(spatial + 2 + axis);
    inMap.push_back(dim(1 + axis) * getStrides()[axis] + k * getDilations()[axis]);
    outMap.push_back(dim(1 + axis));
    filterMap.push_back(k);
  }
  inMap.push_back(group * in + ch);
  outMap.push_back(o);
  filterMap.append({ch, inGroup % block});
  auto map = [&](ArrayRef<AffineExpr> e) { return AffineMap::get(loops, 0, e, b.getContext()); };
  Value input = padSpatial(l, l.operand(getInput()), getPads());
  return l.accumulate({input, l.operand(getFilter())}, getResult(),
                      {map(inMap), map(filterMap), map(outMap)},
                      loopKinds(spatial + 2, spatial + 1), multiplyTerms);
}

AffineExpr PackedConvOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  AffineExpr outputs = product(dims(getResult()), getContext());
  return outputs * product(dims(getFilter()).drop_front().drop_back(), getContext()) * 2;
}

//===----------------------------------------------------------------------===//
// dl.packed_matmul
//===----------------------------------------------------------------------===//

LogicalResult PackedMatMulOp::inferTypes(InferContext &c) {
  TensorInfo lhs = c.of(getLhs()), filter = c.of(getFilter());
  if (lhs.rank() < 1 || filter.rank() != 3) // C1
    return c.error() << "operands have the ranks " << lhs.rank() << " and " << filter.rank();
  if (failed(c.equal(lhs.dims.back(), filter.dims[1], "inner sizes"))) // C2
    return failure();
  Shape dims = lhs.dims;
  dims.back() = c.constant(getOutChannels());
  c.addResult(dims, lhs.element);
  return success();
}

FusionRole PackedMatMulOp::fusionRole() { return FusionRole::Contraction; }

FailureOr<SmallVector<Value>> PackedMatMulOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  int64_t rank = l.rank(getResult()), loops = rank + 1;
  int64_t block = cast<RankedTensorType>(getFilter().getType()).getShape().back();
  SmallVector<AffineExpr> lhsMap;
  for (int64_t axis = 0; axis + 1 < rank; ++axis)
    lhsMap.push_back(b.getAffineDimExpr(axis));
  AffineExpr n = b.getAffineDimExpr(rank - 1), k = b.getAffineDimExpr(rank);
  lhsMap.push_back(k);
  auto map = [&](ArrayRef<AffineExpr> e) { return AffineMap::get(loops, 0, e, b.getContext()); };
  return l.accumulate({l.operand(getLhs()), l.operand(getFilter())}, getResult(),
                      {map(lhsMap), map({n.floorDiv(block), k, n % block}),
                       map(b.getMultiDimIdentityMap(rank).getResults())},
                      loopKinds(rank, 1), multiplyTerms);
}

AffineExpr PackedMatMulOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  AffineExpr inner = dims(getLhs()).back();
  return product(dims(getResult()), getContext()) * inner * 2;
}

//===----------------------------------------------------------------------===//
// dl.depthwise_conv
//===----------------------------------------------------------------------===//

LogicalResult DepthwiseConvOp::inferTypes(InferContext &c) {
  TensorInfo input = c.of(getInput()), filter = c.of(getFilter());
  if (input.rank() != 4 || filter.rank() != 3 || getStrides().size() != 2) // C1
    return c.error() << "input has rank " << input.rank() << " and filter rank "
                     << filter.rank() << ", expects 4 and 3";
  if (failed(c.equal(input.dims.back(), filter.dims.back(), "channels"))) // C1
    return failure();
  Shape dims = input.dims;
  if (failed(inferSpatial(c, dims, ArrayRef<AffineExpr>(filter.dims).take_front(2),
                          getStrides(), getDilations(), getPads())))
    return failure();
  c.addResult(dims, input.element);
  return success();
}

FusionRole DepthwiseConvOp::fusionRole() { return FusionRole::Contraction; }

FailureOr<SmallVector<Value>> DepthwiseConvOp::lowerToLinalg(LinalgLowering &l) {
  OpBuilder &b = l.b;
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
  auto map = [&](ArrayRef<AffineExpr> e) { return AffineMap::get(6, 0, e, b.getContext()); };
  SmallVector<AffineExpr> inMap = {dim(0)}; // n, y, x, c, i, j
  for (int64_t axis = 0; axis < 2; ++axis)
    inMap.push_back(dim(1 + axis) * getStrides()[axis] + dim(4 + axis) * getDilations()[axis]);
  inMap.push_back(dim(3));
  Value input = padSpatial(l, l.operand(getInput()), getPads());
  return l.accumulate({input, l.operand(getFilter())}, getResult(),
                      {map(inMap), map({dim(4), dim(5), dim(3)}),
                       map({dim(0), dim(1), dim(2), dim(3)})},
                      loopKinds(4, 2), multiplyTerms);
}

AffineExpr DepthwiseConvOp::countFlops(function_ref<ArrayRef<AffineExpr>(Value)> dims) {
  ArrayRef<AffineExpr> filter = dims(getFilter());
  AffineExpr taps = filter[0] * filter[1];
  return product(dims(getResult()), getContext()) * taps * 2;
}

} // namespace dlc::dl
