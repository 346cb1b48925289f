// Folds per-channel scales and offsets around convolutions: what is left of
// batch normalisation.

#include "passes/Counts.h"
#include "passes/Passes.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Conv.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dlc {
#define GEN_PASS_DEF_FOLDSCALE
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

/// True when `v` is computed from constants alone (and folds later).
bool isConstantExpression(Value v, int depth = 0) {
  Operation *def = v.getDefiningOp();
  if (!def || depth > 16)
    return false;
  if (def->hasTrait<OpTrait::ConstantLike>())
    return true;
  return isPure(def) && isa<dl::LowersToLinalg>(def) && def->getNumRegions() == 0 &&
         def->getNumOperands() > 0 && llvm::all_of(def->getOperands(), [&](Value operand) {
           return isConstantExpression(operand, depth + 1);
         });
}

/// The operand of a commutative op that is constant, and the other one.
template <typename Op> std::pair<Value, Value> splitConstant(Op op) {
  if (isConstantExpression(op.getRhs()))
    return {op.getLhs(), op.getRhs()};
  if (isConstantExpression(op.getLhs()))
    return {op.getRhs(), op.getLhs()};
  return {};
}

bool isFloat(Value v) { return isa<FloatType>(getElementTypeOrSelf(v)); }

/// One element per channel (axis 1) or one for all, of rank `rank`.
bool isPerChannel(Value v, int64_t rank) {
  auto type = cast<RankedTensorType>(v.getType());
  if (!type.hasStaticShape())
    return false;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.getDimSize(axis) != 1 && axis + rank - type.getRank() != 1)
      return false;
  return true;
}

/// mul(conv(x, w), s) -> conv(x, w * s)
struct FoldScaleIntoConv : OpRewritePattern<dl::MulOp> {
  FoldScaleIntoConv(MLIRContext *context, int64_t &numFolded)
      : OpRewritePattern(context), numFolded(numFolded) {}

  LogicalResult matchAndRewrite(dl::MulOp op, PatternRewriter &b) const override {
    auto [value, scale] = splitConstant(op);
    auto conv = value ? value.getDefiningOp<dl::ConvOp>() : dl::ConvOp();
    if (!conv || !isFloat(op))
      return b.notifyMatchFailure(op, "not a float convolution times a constant");
    if (!conv->hasOneUse())
      return b.notifyMatchFailure(op, "convolution has other users");
    if (conv.getChannelsLast())
      return b.notifyMatchFailure(op, "convolution is channels-last already");
    if (!isConstantExpression(conv.getFilter()))
      return b.notifyMatchFailure(op, "filter is not constant");
    int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
    if (op.getType() != conv.getType() || !isPerChannel(scale, rank))
      return b.notifyMatchFailure(op, "scale is not per channel");
    // Along the filter's axis O.
    SmallVector<int64_t> shape(rank, 1);
    shape[0] = -1;
    auto shapeType = RankedTensorType::get({rank}, b.getI64Type());
    Value sizes = dl::ConstantOp::create(b, op.getLoc(), shapeType,
                                         DenseElementsAttr::get(shapeType, ArrayRef<int64_t>(shape)));
    Value along = dl::make<dl::ReshapeOp>(b, op.getLoc(), scale, sizes);
    Value filter = dl::make<dl::MulOp>(b, op.getLoc(), conv.getFilter(), along);
    Location loc = b.getFusedLoc({conv.getLoc(), op.getLoc()});
    auto folded = dl::make<dl::ConvOp>(b, loc, conv.getInput(), filter, conv.getStridesAttr(),
                                       conv.getDilationsAttr(), conv.getPadsAttr(),
                                       conv.getGroupsAttr(), conv.getChannelsLastAttr());
    b.replaceOp(op, folded.getResult());
    ++numFolded;
    return success();
  }
  int64_t &numFolded;
};

/// mul(add(x, c), s) -> add(mul(x, s), c * s)
struct ScaleBeforeOffset : OpRewritePattern<dl::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(dl::MulOp op, PatternRewriter &b) const override {
    auto [value, scale] = splitConstant(op);
    auto add = value ? value.getDefiningOp<dl::AddOp>() : dl::AddOp();
    if (!add || !add->hasOneUse() || !isFloat(op))
      return b.notifyMatchFailure(op, "no single-use add of floats");
    auto [x, offset] = splitConstant(add);
    if (!x || !x.getDefiningOp<dl::ConvOp>())
      return b.notifyMatchFailure(op, "add is not a convolution plus a constant");
    if (x.getType() != op.getType())
      return b.notifyMatchFailure(op, "the offset broadcasts the convolution");
    Value scaled = dl::make<dl::MulOp>(b, op.getLoc(), x, scale);
    Value shifted = dl::make<dl::MulOp>(b, op.getLoc(), offset, scale);
    b.replaceOp(op, dl::make<dl::AddOp>(b, b.getFusedLoc({add.getLoc(), op.getLoc()}), scaled,
                                        shifted).getResult());
    return success();
  }
};

/// add(add(conv, c), d) -> add(conv, c + d)
struct MergeOffsets : OpRewritePattern<dl::AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(dl::AddOp op, PatternRewriter &b) const override {
    auto [value, second] = splitConstant(op);
    auto add = value ? value.getDefiningOp<dl::AddOp>() : dl::AddOp();
    if (!add || !add->hasOneUse() || !isFloat(op))
      return b.notifyMatchFailure(op, "no single-use add of floats");
    auto [x, first] = splitConstant(add);
    if (!x || !x.getDefiningOp<dl::ConvOp>())
      return b.notifyMatchFailure(op, "add is not a convolution plus a constant");
    Value offset = dl::make<dl::AddOp>(b, op.getLoc(), first, second);
    if (!offset)
      return b.notifyMatchFailure(op, "offsets do not broadcast");
    b.replaceOp(op, dl::make<dl::AddOp>(b, b.getFusedLoc({add.getLoc(), op.getLoc()}), x,
                                        offset).getResult());
    return success();
  }
};

struct FoldScale : dlc::impl::FoldScaleBase<FoldScale> {
  void runOnOperation() override {
    int64_t numFolded = 0;
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldScaleIntoConv>(&getContext(), numFolded);
    patterns.add<ScaleBeforeOffset, MergeOffsets>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    reportCounts(*this, getOperation(), {{"folded", numFolded}});
  }
};

} // namespace
