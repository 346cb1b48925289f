// RandomUniform, RandomNormal, their Like forms and Dropout: counter-based, so a seed
// decides the numbers; nodes without one draw from streams of their own.

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Random.h"

#include <bit>

using namespace mlir;

namespace dlc::onnx {

namespace {

/// A number of its own for every node: from the name of its output.
int64_t streamOf(const Node &node) {
  uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a
  for (StringRef name : node.outputs)
    for (unsigned char c : name)
      hash = (hash ^ c) * 0x100000001b3ull;
  return int64_t(hash);
}

template <bool normal, bool like> LogicalResult random(NodeContext &c) {
  Value input = like ? c.input(0) : Value();
  if (like && !input)
    return c.invalid("has no input");
  Type fallback = like && c.isFloat(input) ? c.element(input) : Type(c.b.getF32Type());
  Type element = c.elementTypeAttr("dtype", fallback);
  if (!element || !isa<FloatType>(element))
    return c.unsupported("a dtype that is not a float");
  Value shape = like ? c.shapeOf(input) : c.ints(c.intsAttr("shape"));
  bool hasSeed = c.has("seed");
  int64_t seed = hasSeed ? int64_t(std::bit_cast<uint32_t>(float(c.floatAttr("seed", 0)))) : 0;
  Value draw = c.make<dl::RandomOp>(shape, NodeContext::Omittable{}, TypeAttr::get(element), c.b.getBoolAttr(normal),
                                    c.b.getI64IntegerAttr(seed),
                                    c.b.getI64IntegerAttr(hasSeed ? 0 : streamOf(c.node)));
  double offset = normal ? c.floatAttr("mean", 0) : c.floatAttr("low", 0);
  double scale = normal ? c.floatAttr("scale", 1) : c.floatAttr("high", 1) - offset;
  Value scaled = c.make<dl::MulOp>(draw, c.scalar(element, scale));
  return c.done(c.make<dl::AddOp>(scaled, c.scalar(element, offset)));
}

/// Where the model trains: each element becomes 0 with the probability `ratio`, others
/// grow by 1 / (1 - ratio). Elsewhere, or where nothing is dropped, the input itself.
LogicalResult dropout(NodeContext &c) {
  for (StringRef name : {"seed", "is_test"})
    c.ignoreAttr(name);
  Value x = c.input(0);
  if (!x)
    return c.invalid("has no input");
  double ratio = c.floatAttr("ratio", 0.5);
  bool isTraining = false;
  if (Value mode = c.input(2)) {
    auto known = c.constantInts(mode);
    if (!known || known->empty())
      return c.unsupported("training_mode that is computed");
    isTraining = (*known)[0] != 0;
  }
  isTraining &= c.mode() != ImportMode::Inference;
  // Only a node that trains reads its ratio.
  if (Value given = c.input(1); given && isTraining) {
    auto known = c.constantFloats(given);
    if (!known || known->empty())
      return c.unsupported("ratio that is computed");
    ratio = (*known)[0];
  }
  isTraining &= ratio != 0;
  if (isTraining && c.mode() != ImportMode::Training)
    return c.unsupported("training_mode");
  if (isTraining && !(ratio > 0 && ratio < 1))
    return c.invalid("ratio is " + Twine(std::to_string(ratio)) + ", expects 0 <= ratio < 1");
  Value kept, y = x;
  auto compare = [&](dl::Comparison how, Value a, Value b) {
    return c.make<dl::CompareOp>(a, b, dl::ComparisonAttr::get(c.b.getContext(), how));
  };
  if (isTraining) {
    Value draw = c.make<dl::RandomOp>(c.shapeOf(x), NodeContext::Omittable{}, TypeAttr::get(c.b.getF32Type()),
                                      c.b.getBoolAttr(false), c.b.getI64IntegerAttr(0),
                                      c.b.getI64IntegerAttr(streamOf(c.node)));
    kept = compare(dl::Comparison::ge, draw, c.scalar(c.b.getF32Type(), ratio));
    Value scaled = c.make<dl::MulOp>(x, c.scalar(c.element(x), 1 / (1 - ratio)));
    y = c.make<dl::SelectOp>(kept, scaled, c.scalar(c.element(x), 0));
  } else if (c.wants(1)) {
    Value same = compare(dl::Comparison::eq, x, x);
    kept = c.make<dl::OrOp>(same, c.make<dl::NotOp>(same));
  }
  c.setOutput(1, kept);
  return c.done(y);
}

} // namespace

void addRandoms(Registry &r) {
  r["Dropout"] = dropout;
  r["RandomNormal"] = random<true, false>;
  r["RandomNormalLike"] = random<true, true>;
  r["RandomUniform"] = random<false, false>;
  r["RandomUniformLike"] = random<false, true>;
}

} // namespace dlc::onnx
