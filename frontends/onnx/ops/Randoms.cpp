// RandomUniform, RandomNormal and their Like forms: counter-based, so a seed
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
  Value draw = c.make<dl::RandomOp>(shape, TypeAttr::get(element), c.b.getBoolAttr(normal),
                                    c.b.getI64IntegerAttr(seed),
                                    c.b.getI64IntegerAttr(hasSeed ? 0 : streamOf(c.node)));
  double offset = normal ? c.floatAttr("mean", 0) : c.floatAttr("low", 0);
  double scale = normal ? c.floatAttr("scale", 1) : c.floatAttr("high", 1) - offset;
  Value scaled = c.make<dl::MulOp>(draw, c.scalar(element, scale));
  return c.done(c.make<dl::AddOp>(scaled, c.scalar(element, offset)));
}

} // namespace

void addRandoms(Registry &r) {
  r["RandomNormal"] = random<true, false>;
  r["RandomNormalLike"] = random<true, true>;
  r["RandomUniform"] = random<false, false>;
  r["RandomUniformLike"] = random<false, true>;
}

} // namespace dlc::onnx
