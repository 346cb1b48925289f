// Turns the gradients of convolutions into what the target's register tiles
// compute: convolutions and matrix products.

#include "passes/Passes.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Conv.h"
#include "dialects/dl/ops/ConvGradient.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Patches.h"
#include "dialects/dl/ops/Slice.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dlc {
#define GEN_PASS_DEF_EXPANDCONVGRADIENTS
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

bool allNeeded(Value) { return true; }

/// How a transposed convolution splits along one axis: the results at one
/// distance from a multiple of the stride are one dense convolution each.
struct AxisPhases {
  int64_t stride, taps; // taps of each phase
  int64_t dilation;
  int64_t low, high;     // pads of the dense convolution, which may cut
  int64_t start, size;   // the part of all phases, interleaved, that is the result
};

bool isDense(const AxisPhases &p) {
  return p.low >= 0 && p.high >= 0 && (p.taps > 1 || (p.low == 0 && p.high == 0));
}

/// None where the padded input would have to be cut, or where a window of one
/// tap would have pads: the dense convolution of such is not worth its padding.
std::optional<AxisPhases> phasesOf(dl::ConvTransposeOp op, int64_t axis) {
  int64_t spatial = op.getStrides().size();
  int64_t taps = typeOf(op.getFilter()).getDimSize(2 + axis), in = typeOf(op.getInput()).getDimSize(2 + axis);
  int64_t stride = op.getStrides()[axis], dilation = op.getDilations()[axis];
  int64_t pad = op.getPads()[axis], end = op.getPads()[axis + spatial], extra = op.getOutputPadding()[axis];
  if (stride == 1) {
    int64_t reach = (taps - 1) * dilation;
    AxisPhases p{1, taps, dilation, reach - pad, reach - end + extra, 0, -1};
    return isDense(p) ? std::optional(p) : std::nullopt;
  }
  if (dilation != 1 || ShapedType::isDynamic(in))
    return std::nullopt;
  int64_t phaseTaps = (taps + stride - 1) / stride, size = typeOf(op.getResult()).getDimSize(2 + axis);
  int64_t first = pad / stride, count = (pad + size - 1) / stride - first + 1;
  AxisPhases p{stride, phaseTaps, 1, phaseTaps - 1 - first, 0, pad - first * stride, size};
  p.high = std::max<int64_t>(0, count - in + first);
  return isDense(p) ? std::optional(p) : std::nullopt;
}

/// The axes of [N or -, g, phases.., O/g, positions..] and what interleaves them.
SmallVector<int64_t> concatSizes(std::initializer_list<ArrayRef<int64_t>> parts) {
  SmallVector<int64_t> sizes;
  for (ArrayRef<int64_t> part : parts)
    sizes.append(part.begin(), part.end());
  return sizes;
}

/// conv_transpose(x, w) -> interleave(conv(x, w'))
///
/// result[s*m + r - p] = sum(a) x[m - a] * w[s*a + r]: for each r a convolution
/// with the flipped taps r, r + s, ..; all of them are one convolution with
/// s times the output channels per axis.
struct ExpandConvTranspose : OpRewritePattern<dl::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(dl::ConvTransposeOp op, PatternRewriter &b) const override {
    auto filterType = typeOf(op.getFilter());
    if (!filterType.hasStaticShape() || !filterType.getElementType().isF32())
      return b.notifyMatchFailure(op, "filter is not static f32");
    if (op.getStrides().size() > 2)
      return b.notifyMatchFailure(op, "phases of three axes need a rank that no tensor has");
    SmallVector<AxisPhases> axes;
    for (size_t axis = 0; axis < op.getStrides().size(); ++axis) {
      auto phases = phasesOf(op, axis);
      if (!phases)
        return b.notifyMatchFailure(op, "an axis has no dense form");
      axes.push_back(*phases);
    }
    dl::GradientBuilder g(b, op, allNeeded);
    SmallVector<int64_t> strides(axes.size(), 1), dilations, pads;
    for (const AxisPhases &p : axes)
      dilations.push_back(p.dilation), pads.push_back(p.low);
    for (const AxisPhases &p : axes)
      pads.push_back(p.high);
    Value dense = g.make<dl::ConvOp>(op.getInput(), denseFilter(g, op, axes), strides, dilations, pads,
                                     op.getGroups(), false);
    Value result = interleave(g, op, axes, dense);
    if (!result)
      return failure();
    b.replaceOp(op, result);
    return success();
  }

  /// C,O/g,k.. -> O',C/g,taps..: O' = g, phases.., O/g; taps flipped.
  static Value denseFilter(dl::GradientBuilder &g, dl::ConvTransposeOp op, ArrayRef<AxisPhases> axes) {
    auto type = typeOf(op.getFilter());
    int64_t spatial = axes.size(), rank = spatial + 2, groups = op.getGroups();
    int64_t in = type.getDimSize(0) / groups, out = type.getDimSize(1);
    SmallVector<int64_t> pads(2 * rank, 0), flip, split = {groups, in, out}, order = {0};
    SmallVector<int64_t> phases, taps, outOrder;
    for (auto [axis, p] : llvm::enumerate(axes)) {
      pads[rank + 2 + axis] = p.taps * p.stride - type.getDimSize(2 + axis);
      split.append({p.taps, p.stride});
      phases.push_back(p.stride);
      taps.push_back(p.taps);
      order.push_back(4 + 2 * axis);
    }
    order.append({2, 1});
    for (int64_t axis = 0; axis < spatial; ++axis)
      order.push_back(3 + 2 * axis);
    Value w = op.getFilter();
    if (llvm::any_of(pads, [](int64_t p) { return p != 0; }))
      w = g.make<dl::PadOp>(w, g.indices(pads), g.zero(w), dl::PadMode::constant);
    w = g.transpose(g.reshape(w, g.indices(split)), order); // g, phases.., O/g, C/g, taps..
    int64_t outs = groups * out;
    for (int64_t phase : phases)
      outs *= phase;
    w = g.reshape(w, g.indices(concatSizes({{outs, in}, taps})));
    for (int64_t axis = 0; axis < spatial && w; ++axis)
      if (taps[axis] > 1)
        w = dl::sliceAxis(g.b, g.loc, w, 2 + axis, -1, INT64_MIN, -1);
    return w;
  }

  /// N, (g, phases.., O/g), m.. -> N, (g, O/g), (m, phase).., cut to the result.
  static Value interleave(dl::GradientBuilder &g, dl::ConvTransposeOp op, ArrayRef<AxisPhases> axes,
                          Value dense) {
    if (!dense || llvm::all_of(axes, [](const AxisPhases &p) { return p.stride == 1; }))
      return dense;
    int64_t spatial = axes.size(), groups = op.getGroups(), out = typeOf(op.getFilter()).getDimSize(1);
    SmallVector<Value> split = {g.sizesOf(dense, 0), g.indices({groups})}, joined = {g.sizesOf(dense, 0)};
    SmallVector<int64_t> order = {0, 1, 2 + spatial};
    joined.push_back(g.indices({groups * out}));
    for (const AxisPhases &p : axes)
      split.push_back(g.indices({p.stride}));
    split.push_back(g.indices({out}));
    for (int64_t axis = 0; axis < spatial; ++axis) {
      Value size = g.sizesOf(dense, 2 + axis);
      split.push_back(size);
      joined.push_back(g.mul(size, g.indices({axes[axis].stride})));
      order.append({3 + spatial + axis, 2 + axis});
    }
    Value result = g.transpose(g.reshape(dense, g.concat(split, 0)), order);
    result = g.reshape(result, g.concat(joined, 0));
    for (auto [axis, p] : llvm::enumerate(axes))
      if (p.stride != 1 && result)
        result = dl::sliceAxis(g.b, g.loc, result, 2 + axis, p.start, p.start + p.size);
    return result;
  }
};

/// Channels-first to channels-last.
Value toLast(dl::GradientBuilder &g, Value x) {
  SmallVector<int64_t> order = {0};
  for (int64_t axis = 2; axis < typeOf(x).getRank(); ++axis)
    order.push_back(axis);
  order.push_back(1);
  return g.transpose(x, order);
}

/// conv_filter_gradient(x, dy) -> patches(x)' * dy, one matrix product over all
/// positions; of single channels, a sum of patches(x) * dy over them.
struct ExpandFilterGradient : OpRewritePattern<dl::ConvFilterGradientOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(dl::ConvFilterGradientOp op, PatternRewriter &b) const override {
    auto type = typeOf(op.getResult());
    if (op.getChannelsLast() || !type.hasStaticShape() || !type.getElementType().isF32())
      return b.notifyMatchFailure(op, "not channels-first, static f32");
    int64_t groups = op.getGroups(), in = type.getDimSize(1), out = type.getDimSize(0);
    bool isDepthwise = groups == out && in == 1;
    if (groups != 1 && !isDepthwise)
      return b.notifyMatchFailure(op, "groups of several channels");
    dl::GradientBuilder g(b, op, allNeeded);
    int64_t spatial = op.spatialRank(), taps = 1;
    for (int64_t size : op.getKernel())
      taps *= size;
    Value patches = g.make<dl::PatchesOp>(toLast(g, op.getInput()), op.getKernelAttr(), op.getStridesAttr(),
                                          op.getDilationsAttr(), op.getPadsAttr());
    Value dy = toLast(g, op.getGrad()), dw;
    if (groups == 1) {
      Value rows = g.reshape(patches, g.indices({-1, taps * in}));
      Value columns = g.reshape(dy, g.indices({-1, out}));
      dw = g.make<dl::MatMulOp>(rows, columns, b.getUnitAttr(), UnitAttr()); // k.., I, O
      SmallVector<int64_t> order = {spatial + 1, spatial};
      llvm::append_range(order, llvm::seq<int64_t>(0, spatial));
      dw = g.transpose(g.reshape(dw, g.indices(concatSizes({op.getKernel(), {in, out}}))), order);
    } else {
      Value rows = g.reshape(patches, g.indices({-1, taps, out}));
      Value columns = g.reshape(dy, g.indices({-1, 1, out}));
      dw = g.sum(g.mul(rows, columns), 0, false); // k.., O
      dw = g.reshape(g.transpose(dw, {1, 0}), g.indices(concatSizes({{out, 1}, op.getKernel()})));
    }
    if (!dw)
      return failure();
    b.replaceOp(op, dw);
    return success();
  }
};

struct ExpandConvGradients : dlc::impl::ExpandConvGradientsBase<ExpandConvGradients> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandConvTranspose, ExpandFilterGradient>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
