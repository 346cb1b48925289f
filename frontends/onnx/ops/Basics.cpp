// Constants, identities, casts and what reads a shape.

#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

LogicalResult constant(NodeContext &c) {
  if (c.node.attrs.size() != 1)
    return c.invalid("needs exactly one attribute that gives its value");
  if (c.has("value")) {
    const Tensor *tensor = c.tensorAttr("value");
    return tensor ? c.done(c.tensor(*tensor)) : failure();
  }
  if (c.has("value_int"))
    return c.done(c.intScalar(c.b.getI64Type(), c.intAttr("value_int", 0)));
  if (c.has("value_float"))
    return c.done(c.scalar(c.b.getF32Type(), c.floatAttr("value_float", 0)));
  if (c.has("value_ints"))
    return c.done(c.ints(c.intsAttr("value_ints")));
  if (c.has("value_floats")) {
    SmallVector<double> given = c.floatsAttr("value_floats");
    SmallVector<float> values(given.begin(), given.end());
    auto type = RankedTensorType::get({int64_t(values.size())}, c.b.getF32Type());
    return c.done(c.constant(DenseElementsAttr::get(type, ArrayRef(values))));
  }
  return c.unsupported("attribute " + quoted(c.node.attrs[0].name) + " gives its value");
}

LogicalResult identity(NodeContext &c) {
  if (!c.input(0))
    return c.invalid("has no input");
  return c.done(c.input(0));
}

LogicalResult cast(NodeContext &c) {
  if (!c.input(0))
    return c.invalid("has no input");
  if (c.failed() || c.intAttr("saturate", 1) != 1)
    return c.unsupported("attribute 'saturate' = 0");
  if (!c.has("to"))
    return c.invalid("attribute 'to' is missing");
  Type element = c.elementTypeAttr("to");
  if (!element)
    return failure();
  return c.done(c.cast(c.input(0), element));
}

LogicalResult castLike(NodeContext &c) {
  if (c.intAttr("saturate", 1) != 1)
    return c.unsupported("attribute 'saturate' = 0");
  if (c.numInputs() != 2)
    return c.invalid("has " + Twine(c.numInputs()) + " inputs, expects 2");
  return c.done(c.cast(c.input(0), c.element(c.input(1))));
}

/// The sizes of axes [start, end), Python's way.
LogicalResult shape(NodeContext &c) {
  int64_t rank = c.rank(c.input(0));
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = clamp(c.intAttr("start", 0)), end = clamp(c.intAttr("end", rank));
  Value sizes = c.shapeOf(c.input(0));
  if (start == 0 && end == rank)
    return c.done(sizes);
  return c.done(c.slice(sizes, start, std::max(start, end)));
}

LogicalResult size(NodeContext &c) {
  Value count = c.intScalar(c.b.getI64Type(), 1);
  Value sizes = c.shapeOf(c.input(0));
  for (int64_t axis = 0, rank = c.rank(c.input(0)); axis < rank; ++axis)
    count = c.make<dl::MulOp>(count, c.extract(sizes, axis));
  return c.done(count);
}

LogicalResult constantOfShape(NodeContext &c) {
  Value fill = c.scalar(c.b.getF32Type(), 0);
  if (c.has("value")) {
    const Tensor *tensor = c.tensorAttr("value");
    fill = tensor ? c.tensor(*tensor) : Value();
    if (!fill)
      return failure();
    if (c.type(fill).getNumElements() != 1)
      return c.invalid("attribute 'value' has " + Twine(c.type(fill).getNumElements()) +
                       " elements, expects 1");
    fill = c.reshape(fill, ArrayRef<int64_t>{});
  }
  return c.done(c.make<dl::ExpandOp>(fill, c.input(0)));
}

} // namespace

void addBasics(Registry &r) {
  r["Cast"] = cast;
  r["CastLike"] = castLike;
  r["Constant"] = constant;
  r["Identity"] = identity;
  r.add("ConstantOfShape", 1, 1, constantOfShape, 9);
  r.add("Shape", 1, 1, shape);
  r.add("Size", 1, 1, size);
}

} // namespace dlc::onnx
