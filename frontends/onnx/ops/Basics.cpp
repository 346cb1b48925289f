// Constants, identities, casts and what reads a shape.

#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"

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

/// Inference: the mask, where asked for, is all true.
LogicalResult dropout(NodeContext &c) {
  for (StringRef name : {"seed", "ratio", "is_test"})
    c.ignoreAttr(name);
  if (!c.input(0))
    return c.invalid("has no input");
  if (Value mode = c.input(2)) {
    auto training = c.constantInts(mode);
    if (!training)
      return c.unsupported("training_mode that is computed");
    auto ratio = c.input(1) ? c.constantFloats(c.input(1)) : std::nullopt;
    bool isIdentity = !(*training)[0] || (ratio && (*ratio)[0] == 0);
    if (!isIdentity)
      return c.unsupported("training_mode");
  }
  c.setOutput(0, c.input(0));
  if (c.wants(1)) {
    Value same = c.make<dl::CompareOp>(
        c.input(0), c.input(0), dl::ComparisonAttr::get(c.b.getContext(), dl::Comparison::eq));
    c.setOutput(1, c.make<dl::OrOp>(same, c.make<dl::NotOp>(same)));
  }
  return success();
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

} // namespace

void addBasics(Registry &r) {
  r["Cast"] = cast;
  r["CastLike"] = castLike;
  r["Constant"] = constant;
  r["Dropout"] = dropout;
  r["Identity"] = identity;
}

} // namespace dlc::onnx
