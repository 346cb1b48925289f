// Constants, identities, casts and what reads a shape.

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Reduce.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

LogicalResult constant(NodeContext &c) {
  auto done = [&](RankedTensorType type, DenseElementsAttr value) {
    return c.done(dl::ConstantOp::create(c.b, c.loc, type, value));
  };
  if (const Attribute *value = c.attribute("value", kAttrTensor)) {
    if (!value->tensor)
      return c.invalid("attribute 'value' holds no tensor");
    auto result = c.importer.constant(*value->tensor, c.loc);
    return failed(result) ? failure() : c.done(*result);
  }
  auto vector = [&](int64_t size, Type element) {
    return RankedTensorType::get({size}, element);
  };
  if (c.has("value_int"))
    return c.done(c.scalar(c.b.getI64Type(), c.intAttr("value_int", 0)));
  if (c.has("value_float"))
    return c.done(c.scalar(c.b.getF32Type(), c.floatAttr("value_float", 0)));
  if (const Attribute *ints = c.attribute("value_ints", kAttrInts)) {
    auto type = vector(ints->ints.size(), c.b.getI64Type());
    return done(type, DenseElementsAttr::get(type, ArrayRef<int64_t>(ints->ints)));
  }
  if (const Attribute *floats = c.attribute("value_floats", kAttrFloats)) {
    auto type = vector(floats->floats.size(), c.b.getF32Type());
    return done(type, DenseElementsAttr::get(type, ArrayRef<float>(floats->floats)));
  }
  return c.unsupported("a constant of strings or a sparse one");
}

LogicalResult identity(NodeContext &c) {
  if (!c.input(0))
    return c.invalid("has no input");
  return c.done(c.input(0));
}

/// Inference: the mask, where asked for, is all true.
LogicalResult dropout(NodeContext &c) {
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
  int64_t to = c.intAttr("to", 0);
  Type element = elementType(int32_t(to), c.b.getContext());
  if (!element)
    return c.unsupported("to " + dataTypeName(int32_t(to)));
  return c.done(c.cast(c.input(0), element));
}

LogicalResult castLike(NodeContext &c) {
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
