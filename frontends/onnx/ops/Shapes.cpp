// ONNX ops that read or change shapes without computing elements.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Scatter.h"
#include "dialects/dl/ops/Sequence.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

using Ints = NodeContext::Ints;

/// A shape input: an i64 vector whose length is known; null after an error.
Value shapeInput(NodeContext &c, size_t i) {
  ShapeTools s{c};
  Value v = s.vector(c.input(i));
  if (!v) {
    (void)c.invalid("has no shape");
    return {};
  }
  if (!s.length(v)) {
    (void)c.unsupported("a shape of unknown length");
    return {};
  }
  return v;
}

LogicalResult reshape(NodeContext &c) {
  ShapeTools s{c};
  if (!c.input(0))
    return c.invalid("has no input");
  Value shape = c.opset < 5 ? c.ints(c.intsAttr("shape")) : shapeInput(c, 1);
  if (!shape)
    return failure();
  bool allowZero = c.opset >= 14 && c.intAttr("allowzero", 0);
  Value resolved = c.make<dl::ResolveShapeOp>(c.input(0), shape, allowZero);
  return c.done(s.reshapeTo(c.input(0), resolved));
}

LogicalResult flatten(NodeContext &c) {
  ShapeTools s{c};
  if (!c.input(0))
    return c.invalid("has no input");
  int64_t rank = c.rank(c.input(0)), axis = c.intAttr("axis", 1);
  if (axis < -rank || axis > rank)
    return c.invalid("axis " + Twine(axis) + " is outside the rank " + Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  Value sizes = s.shape(c.input(0));
  Value target = s.concat({s.product(sizes, 0, axis), s.product(sizes, axis, rank)});
  return c.done(s.reshapeTo(c.input(0), target));
}

/// Axes of Squeeze and Unsqueeze: an attribute, from opset 13 an input.
Value axesOperand(NodeContext &c) {
  if (c.opset < 13)
    return c.has("axes") ? c.ints(c.intsAttr("axes")) : Value();
  return c.input(1) ? ShapeTools{c}.vector(c.input(1)) : Value();
}

/// 1 for each of `rank` axes, 0 for those in `axes`, which are computed.
Value keptAxes(NodeContext &c, Value axes, int64_t count, int64_t rank) {
  auto replace = dl::ScatterModeAttr::get(c.b.getContext(), dl::ScatterMode::replace);
  return c.make<dl::ScatterElementsOp>(c.ints(Ints(rank, 1)), axes, c.ints(Ints(count, 0)),
                                       c.b.getI64IntegerAttr(0), replace);
}

/// For each axis, how many kept axes lie before it, as positions in a shape.
Value rankAmongKept(NodeContext &c, Value kept) {
  Value axis = c.scalar(c.b.getI64Type(), 0);
  return c.make<dl::CumulateOp>(kept, axis, /*isProduct=*/false, /*exclusive=*/true,
                                /*reverse=*/false);
}

LogicalResult squeezeComputed(NodeContext &c, Value axes, int64_t count) {
  ShapeTools s{c};
  int64_t rank = c.rank(c.input(0));
  if (count > rank)
    return c.invalid("has more axes than its input");
  Value positions = c.makeMulti<dl::NonZeroOp>(2, keptAxes(c, axes, count, rank))[0];
  Value first = s.slice(positions, 1, 0, rank - count);
  Value kept = c.reshape(first, {rank - count});
  return c.done(s.reshapeTo(c.input(0), s.gather(s.shape(c.input(0)), kept, 0)));
}

LogicalResult squeeze(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  int64_t rank = c.rank(x);
  Value operand = axesOperand(c);
  Ints axes;
  if (operand) {
    auto known = c.constantInts(operand);
    if (!known) {
      auto count = s.length(operand);
      return count ? squeezeComputed(c, operand, *count)
                   : c.unsupported("axes of unknown number");
    }
    auto normal = c.normalizeAxes(*known, rank);
    if (failed(normal))
      return failure();
    axes = *normal;
  } else {
    if (!c.type(x).hasStaticShape())
      return c.unsupported("no axes for an input whose shape is not static");
    for (int64_t i = 0; i < rank; ++i)
      if (c.type(x).getDimSize(i) == 1)
        axes.push_back(i);
  }
  Ints kept;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(axes, i))
      kept.push_back(i);
  for (int64_t axis : axes)
    if (!c.type(x).isDynamicDim(axis) && c.type(x).getDimSize(axis) != 1)
      return c.invalid("squeezes axis " + Twine(axis) + " of size " +
                       Twine(c.type(x).getDimSize(axis)));
  return c.done(s.reshapeTo(x, s.pick(s.shape(x), kept)));
}

LogicalResult unsqueezeComputed(NodeContext &c, Value axes, int64_t count) {
  ShapeTools s{c};
  int64_t rank = c.rank(c.input(0)) + count;
  Value kept = keptAxes(c, axes, count, rank);
  // One size more, so that axes behind the last kept one find something to read.
  Value sizes = s.concat({s.shape(c.input(0)), c.ints({1})});
  Value own = s.gather(sizes, rankAmongKept(c, kept), 0);
  Value isKept = s.compare("eq", kept, c.ints({1}));
  return c.done(s.reshapeTo(c.input(0), c.make<dl::SelectOp>(isKept, own, c.ints({1}))));
}

LogicalResult unsqueeze(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0), operand = axesOperand(c);
  if (!x || !operand)
    return c.invalid("has no input or no axes");
  auto known = c.constantInts(operand);
  if (!known) {
    auto count = s.length(operand);
    return count ? unsqueezeComputed(c, operand, *count)
                 : c.unsupported("axes of unknown number");
  }
  int64_t rank = c.rank(x) + known->size();
  auto axes = c.normalizeAxes(*known, rank);
  if (failed(axes))
    return failure();
  Ints positions;
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    positions.push_back(llvm::is_contained(*axes, i) ? c.rank(x) : next++);
  return c.done(s.reshapeTo(x, s.pick(s.concat({s.shape(x), c.ints({1})}), positions)));
}

LogicalResult expand(NodeContext &c) {
  ShapeTools s{c};
  Value shape = shapeInput(c, 1);
  if (!c.input(0) || !shape)
    return failure();
  Value target = c.make<dl::BroadcastShapeOp>(s.shape(c.input(0)), shape);
  return c.done(s.expandTo(c.input(0), target));
}

LogicalResult tile(NodeContext &c) {
  Value repeats = shapeInput(c, 1);
  return repeats ? c.done(c.make<dl::TileOp>(c.input(0), repeats)) : failure();
}

} // namespace

void addShapes(Registry &r) {
  r.add("Expand", 2, 2, expand, 8);
  r.add("Flatten", 1, 1, flatten);
  r.add("Reshape", 1, 2, reshape);
  r.add("Squeeze", 1, 2, squeeze);
  r.add("Tile", 2, 2, tile, 6);
  r.add("Unsqueeze", 1, 2, unsqueeze);
}

} // namespace dlc::onnx
