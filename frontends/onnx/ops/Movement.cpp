// ONNX ops that cut, join and rearrange tensors.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Scatter.h"
#include "dialects/dl/ops/Slice.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

using Ints = NodeContext::Ints;

LogicalResult transpose(NodeContext &c) {
  if (!c.input(0))
    return c.invalid("has no input");
  Ints reversed;
  for (int64_t i = c.rank(c.input(0)); i-- > 0;)
    reversed.push_back(i);
  return c.done(c.transpose(c.input(0), c.intsAttr("perm", reversed)));
}

LogicalResult concat(NodeContext &c) {
  ShapeTools s{c};
  SmallVector<Value> parts;
  for (Value v : c.allInputs())
    if (v)
      parts.push_back(v);
  if (parts.empty())
    return c.invalid("has no inputs");
  if (c.opset >= 4 && !c.has("axis"))
    return c.invalid("has no attribute 'axis'");
  auto axis = c.normalizeAxis(c.intAttr("axis", 1), c.rank(parts[0]));
  return failed(axis) ? failure() : c.done(s.concat(parts, *axis));
}

LogicalResult slice(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  Value starts, ends, axes, steps;
  if (c.opset < 10) {
    starts = c.ints(c.intsAttr("starts"));
    ends = c.ints(c.intsAttr("ends"));
    axes = c.has("axes") ? c.ints(c.intsAttr("axes")) : Value();
  } else {
    starts = s.vector(c.input(1));
    ends = s.vector(c.input(2));
    axes = s.vector(c.input(3));
    steps = s.vector(c.input(4));
  }
  if (!starts || !ends)
    return c.invalid("has no starts or no ends");
  auto count = s.length(starts);
  if (!count)
    return c.unsupported("starts of unknown number");
  if (!axes) {
    Ints all;
    for (int64_t i = 0; i < *count; ++i)
      all.push_back(i);
    axes = c.ints(all);
  }
  if (!steps)
    steps = c.ints(Ints(*count, 1));
  Value bounds = c.make<dl::SliceBoundsOp>(x, starts, ends, axes, steps);
  return c.done(c.make<dl::SliceOp>(x, bounds));
}

/// Where each of `count` equal parts (the last may be smaller) ends.
Value equalPart(NodeContext &c, Value size, int64_t count, bool roundUp) {
  Value number = c.ints({count});
  if (roundUp)
    size = c.make<dl::AddOp>(size, c.ints({count - 1}));
  return c.make<dl::DivOp>(size, number);
}

LogicalResult split(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  auto axis = c.normalizeAxis(c.intAttr("axis", 0), c.rank(x));
  if (failed(axis))
    return failure();
  int64_t count = c.node.outputs.size();
  Value sizes = c.opset >= 13 ? s.vector(c.input(1))
                : c.has("split") ? c.ints(c.intsAttr("split")) : Value();
  if (sizes && s.length(sizes) != count)
    return c.invalid("has " + Twine(count) + " outputs, which differs from the number of sizes");
  if (c.opset >= 18 && c.intAttr("num_outputs", count) != count)
    return c.invalid("has " + Twine(count) + " outputs but num_outputs " +
                     Twine(c.intAttr("num_outputs", count)));
  int64_t extent = c.type(x).getDimSize(*axis);
  if (auto known = c.constantInts(sizes); known && !ShapedType::isDynamic(extent)) {
    int64_t sum = 0;
    bool isBroken = false;
    for (int64_t size : *known)
      isBroken |= size < 0 || __builtin_add_overflow(sum, size, &sum);
    if (isBroken || sum != extent)
      return c.invalid("its parts add up to " + Twine(sum) + " of " + Twine(extent));
  }
  Value whole = s.size(x, *axis), part;
  if (!sizes)
    part = equalPart(c, whole, count, c.opset >= 18);
  Value start = c.ints({0});
  for (int64_t i = 0; i < count; ++i) {
    Value length = sizes ? s.pick(sizes, {i}) : part;
    Value end = c.make<dl::AddOp>(start, length);
    if (!sizes && i + 1 == count)
      end = whole;
    Value piece = s.slice(x, *axis, start, end);
    if (!piece)
      return failure();
    c.setOutput(i, piece);
    start = end;
  }
  return success();
}

/// Pads of all axes from pads of some.
Value spreadPads(NodeContext &c, Value pads, Value axes, int64_t rank) {
  ShapeTools s{c};
  Value negative = s.compare("lt", axes, c.ints({0}));
  Value before = c.make<dl::SelectOp>(negative, c.make<dl::AddOp>(axes, c.ints({rank})), axes);
  Value after = c.make<dl::AddOp>(before, c.ints({rank}));
  auto replace = dl::ScatterModeAttr::get(c.b.getContext(), dl::ScatterMode::replace);
  return c.make<dl::ScatterElementsOp>(c.ints(Ints(2 * rank, 0)), s.concat({before, after}),
                                       pads, c.b.getI64IntegerAttr(0), replace);
}

LogicalResult pad(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  Type element = c.element(x);
  int64_t rank = c.rank(x);
  auto mode = dl::symbolizePadMode(c.stringAttr("mode", "constant"));
  if (!mode)
    return c.unsupported("mode '" + c.stringAttr("mode", "") + "'");
  Value pads, value;
  if (c.opset < 11) {
    pads = c.ints(c.intsAttr(c.opset < 2 ? "paddings" : "pads"));
    value = c.scalar(element, c.floatAttr("value", 0));
  } else {
    pads = s.vector(c.input(1));
    value = c.input(2) ? s.toScalar(c.input(2)) : c.scalar(element, 0);
  }
  if (!pads)
    return c.invalid("has no pads");
  if (Value axes = c.opset >= 18 ? s.vector(c.input(3)) : Value()) {
    auto count = s.length(axes);
    if (!count)
      return c.unsupported("axes of unknown number");
    if (auto known = c.constantInts(axes); known && failed(c.normalizeAxes(*known, rank)))
      return failure();
    pads = spreadPads(c, pads, axes, rank);
  }
  if (pads && !s.length(pads))
    return c.unsupported("pads of unknown number");
  auto modeAttr = dl::PadModeAttr::get(c.b.getContext(), *mode);
  return c.done(c.make<dl::PadOp>(x, pads, value, modeAttr));
}

LogicalResult depthToSpace(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  int64_t block = c.intAttr("blocksize", 0);
  if (!x || c.rank(x) != 4 || block < 1)
    return c.invalid("needs an input of rank 4 and a positive blocksize");
  bool isDepthFirst = c.stringAttr("mode", "DCR") == "DCR";
  Value n = s.size(x, 0), h = s.size(x, 2), w = s.size(x, 3), b = c.ints({block});
  Value depth = c.make<dl::DivOp>(s.size(x, 1), c.ints({block * block}));
  Value split = isDepthFirst ? s.concat({n, b, b, depth, h, w})
                             : s.concat({n, depth, b, b, h, w});
  Value blocks = s.reshapeTo(x, split);
  if (!blocks)
    return failure();
  Value moved = isDepthFirst ? c.transpose(blocks, {0, 3, 4, 1, 5, 2})
                             : c.transpose(blocks, {0, 1, 4, 2, 5, 3});
  return c.done(s.reshapeTo(moved, s.concat({n, depth, c.make<dl::MulOp>(h, b),
                                             c.make<dl::MulOp>(w, b)})));
}

LogicalResult spaceToDepth(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  int64_t block = c.intAttr("blocksize", 0);
  if (!x || c.rank(x) != 4 || block < 1)
    return c.invalid("needs an input of rank 4 and a positive blocksize");
  bool isDepthFirst = c.opset < 28 || c.stringAttr("mode", "DCR") == "DCR";
  Value n = s.size(x, 0), depth = s.size(x, 1), b = c.ints({block});
  Value h = c.make<dl::DivOp>(s.size(x, 2), b), w = c.make<dl::DivOp>(s.size(x, 3), b);
  Value blocks = s.reshapeTo(x, s.concat({n, depth, h, b, w, b}));
  if (!blocks)
    return failure();
  Value moved = isDepthFirst ? c.transpose(blocks, {0, 3, 5, 1, 2, 4})
                             : c.transpose(blocks, {0, 1, 3, 5, 2, 4});
  Value channels = c.make<dl::MulOp>(depth, c.ints({block * block}));
  return c.done(s.reshapeTo(moved, s.concat({n, channels, h, w})));
}

LogicalResult reverseSequence(NodeContext &c) {
  ShapeTools s{c};
  if (!c.input(0) || !c.input(1))
    return c.invalid("has no input or no lengths");
  auto time = c.normalizeAxis(c.intAttr("time_axis", 0), c.rank(c.input(0)));
  auto batch = c.normalizeAxis(c.intAttr("batch_axis", 1), c.rank(c.input(0)));
  if (failed(time) || failed(batch))
    return failure();
  return c.done(c.make<dl::ReverseSequenceOp>(
      c.input(0), s.vector(c.input(1)), c.b.getI64IntegerAttr(*time),
      c.b.getI64IntegerAttr(*batch)));
}

/// column - row for the last two axes of `v`, as a matrix of i64.
Value diagonalNumber(NodeContext &c, Value v) {
  ShapeTools s{c};
  int64_t rank = c.rank(v);
  Value rows = c.reshape(s.iota(s.size(v, rank - 2)), {-1, 1});
  return c.make<dl::SubOp>(s.iota(s.size(v, rank - 1)), rows);
}

LogicalResult trilu(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  if (!x || c.rank(x) < 2)
    return c.invalid("needs an input of rank 2 or more");
  Value k = c.input(1) ? s.toScalar(c.cast(c.input(1), c.b.getI64Type()))
                       : c.scalar(c.b.getI64Type(), 0);
  Value keep = s.compare(c.intAttr("upper", 1) ? "ge" : "le", diagonalNumber(c, x), k);
  return c.done(c.make<dl::SelectOp>(keep, x, c.scalar(c.element(x), 0)));
}

LogicalResult eyeLike(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0);
  if (!x || c.rank(x) != 2)
    return c.invalid("needs an input of rank 2");
  Type element = c.element(x);
  if (c.has("dtype"))
    element = c.elementTypeAttr("dtype");
  if (!element)
    return failure();
  Value k = c.scalar(c.b.getI64Type(), c.intAttr("k", 0));
  return c.done(c.cast(s.compare("eq", diagonalNumber(c, x), k), element));
}

LogicalResult bitCast(NodeContext &c) {
  if (!c.has("to"))
    return c.invalid("attribute 'to' is missing");
  Type to = c.elementTypeAttr("to");
  if (!to)
    return failure();
  if (to.isInteger(1))
    return c.unsupported("to bool");
  return c.done(c.make<dl::BitcastOp>(c.input(0), TypeAttr::get(to)));
}

/// Each axis is cut or padded around its middle to the size asked for.
LogicalResult centerCropPad(NodeContext &c) {
  ShapeTools s{c};
  Value x = c.input(0), shape = s.vector(c.input(1));
  int64_t rank = c.rank(x);
  Ints all;
  for (int64_t i = 0; i < rank; ++i)
    all.push_back(i);
  auto axes = c.normalizeAxes(c.intsAttr("axes", all), rank);
  if (failed(axes) || !shape)
    return failure();
  if (s.length(shape) != int64_t(axes->size()))
    return c.invalid("has a number of sizes that differs from its axes");
  SmallVector<Value> before(rank, c.ints({0})), after(rank, c.ints({0}));
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    Value own = s.size(x, axis), size = s.pick(shape, {int64_t(i)}), zero = c.ints({0});
    Value surplus = c.make<dl::MaxOp>(c.make<dl::SubOp>(own, size), zero);
    Value missing = c.make<dl::MaxOp>(c.make<dl::SubOp>(size, own), zero);
    Value start = c.make<dl::DivOp>(surplus, c.ints({2}));
    x = s.slice(x, axis, start, c.make<dl::AddOp>(start, c.make<dl::MinOp>(own, size)));
    before[axis] = c.make<dl::DivOp>(missing, c.ints({2}));
    after[axis] = c.make<dl::SubOp>(missing, before[axis]);
  }
  before.append(after);
  auto mode = dl::PadModeAttr::get(c.b.getContext(), dl::PadMode::constant);
  Value filler = c.scalar(c.element(c.input(0)), 0);
  return c.done(c.make<dl::PadOp>(x, s.concat(before), filler, mode));
}

} // namespace

void addMovement(Registry &r) {
  r.add("BitCast", 1, 1, bitCast, 26);
  r.add("CenterCropPad", 2, 2, centerCropPad, 18);
  r.add("Concat", 1, kAnyNumber, concat);
  r.add("DepthToSpace", 1, 1, depthToSpace);
  r.add("EyeLike", 1, 1, eyeLike, 9);
  r.add("Pad", 1, 4, pad);
  r.add("ReverseSequence", 2, 2, reverseSequence, 10);
  r.add("Slice", 1, 5, slice);
  r.add("SpaceToDepth", 1, 1, spaceToDepth);
  r.add("Split", 1, 2, split);
  r.add("Transpose", 1, 1, transpose);
  r.add("Trilu", 1, 2, trilu, 14);
}

} // namespace dlc::onnx
