// Gives convolutions and matrix products with constant filters the packed form
// that the target's register tiles read.

#include "passes/Counts.h"
#include "passes/Passes.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Conv.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Packed.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dlc {
#define GEN_PASS_DEF_PACKFILTERS
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

bool isStaticF32(Value v) {
  auto type = cast<RankedTensorType>(v.getType());
  return type.hasStaticShape() && type.getElementType().isF32();
}

/// True when the value is evaluated at compile time, so that packing it is free.
bool isFromConstants(Value v) {
  llvm::SmallSetVector<Operation *, 8> producers;
  auto add = [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return def && (producers.insert(def), true);
  };
  if (!add(v))
    return false;
  for (size_t i = 0; i < producers.size(); ++i)
    if (!isPure(producers[i]) || !llvm::all_of(producers[i]->getOperands(), add))
      return false;
  return true;
}

/// Output channels per block: one vector for few channels, else two.
int64_t blockOf(int64_t channels, int64_t lanes) {
  return channels <= lanes ? lanes : 2 * lanes;
}

struct Packing {
  int64_t lanes;
  int64_t *numPacked;
};

/// conv(x, w) -> packed_conv(x, pack_filter(w)), or depthwise_conv
struct PackConv : OpRewritePattern<dl::ConvOp> {
  PackConv(MLIRContext *context, Packing packing)
      : OpRewritePattern(context), packing(packing) {}

  LogicalResult matchAndRewrite(dl::ConvOp op, PatternRewriter &b) const override {
    if (!op.getChannelsLast() || op.spatialRank() > 2)
      return b.notifyMatchFailure(op, "not channels-last with one or two spatial axes");
    if (!isStaticF32(op.getFilter()))
      return b.notifyMatchFailure(op, "filter is not static f32");
    auto filter = cast<RankedTensorType>(op.getFilter().getType());
    int64_t groups = op.getGroups(), out = filter.getDimSize(0);
    Location loc = op.getLoc();
    bool isDepthwise = groups > 1 && groups == out && filter.getDimSize(1) == 1;
    Value result;
    if (isDepthwise && op.spatialRank() == 2) {
      // O,1,KH,KW -> KH,KW,O
      auto shapeType = RankedTensorType::get({3}, b.getI64Type());
      int64_t sizes[] = {out, filter.getDimSize(2), filter.getDimSize(3)};
      Value shape = dl::ConstantOp::create(b, loc, shapeType, DenseElementsAttr::get(shapeType, ArrayRef<int64_t>(sizes)));
      Value flat = dl::make<dl::ReshapeOp>(b, loc, op.getFilter(), shape);
      Value packed = dl::make<dl::TransposeOp>(b, loc, flat, b.getDenseI64ArrayAttr({1, 2, 0}));
      result = dl::make<dl::DepthwiseConvOp>(b, loc, op.getInput(), packed, op.getStridesAttr(),
                                             op.getDilationsAttr(), op.getPadsAttr());
    } else {
      if (isDepthwise)
        return b.notifyMatchFailure(op, "depthwise over one axis");
      int64_t block = blockOf(out / groups, packing.lanes);
      Value packed = dl::make<dl::PackFilterOp>(b, loc, op.getFilter(), op.getGroupsAttr(),
                                                b.getI64IntegerAttr(block));
      result = dl::make<dl::PackedConvOp>(b, loc, op.getInput(), packed, op.getStridesAttr(),
                                          op.getDilationsAttr(), op.getPadsAttr(),
                                          op.getGroupsAttr(), b.getI64IntegerAttr(out));
    }
    b.replaceOp(op, result);
    ++*packing.numPacked;
    return success();
  }
  Packing packing;
};

/// matmul(a, b) with a constant matrix b -> packed_matmul(a, pack_filter(b))
struct PackMatMul : OpRewritePattern<dl::MatMulOp> {
  PackMatMul(MLIRContext *context, Packing packing)
      : OpRewritePattern(context), packing(packing) {}

  LogicalResult matchAndRewrite(dl::MatMulOp op, PatternRewriter &b) const override {
    auto rhs = cast<RankedTensorType>(op.getRhs().getType());
    if (op.getTransposeLhs() || rhs.getRank() != 2 || !isStaticF32(op.getRhs()))
      return b.notifyMatchFailure(op, "right side is not one static f32 matrix");
    if (!isFromConstants(op.getRhs()))
      return b.notifyMatchFailure(op, "right side is computed: its kernel packs it");
    Location loc = op.getLoc();
    Value filter = op.getRhs();
    if (!op.getTransposeRhs()) // O,I order
      filter = dl::make<dl::TransposeOp>(b, loc, filter, b.getDenseI64ArrayAttr({1, 0}));
    int64_t out = cast<RankedTensorType>(filter.getType()).getDimSize(0);
    Value packed = dl::make<dl::PackFilterOp>(b, loc, filter, b.getI64IntegerAttr(1),
                                              b.getI64IntegerAttr(blockOf(out, packing.lanes)));
    b.replaceOp(op, dl::make<dl::PackedMatMulOp>(b, loc, op.getLhs(), packed,
                                                 b.getI64IntegerAttr(out)).getResult());
    ++*packing.numPacked;
    return success();
  }
  Packing packing;
};

struct PackFilters : dlc::impl::PackFiltersBase<PackFilters> {
  using PackFiltersBase::PackFiltersBase;
  void runOnOperation() override {
    int64_t numPacked = 0;
    RewritePatternSet patterns(&getContext());
    patterns.add<PackConv, PackMatMul>(&getContext(), Packing{lanes, &numPacked});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    reportCounts(*this, getOperation(), {{"packed", numPacked}});
  }
};

} // namespace
