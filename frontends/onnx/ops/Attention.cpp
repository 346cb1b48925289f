// Attention (opsets 23 to 25). Masked keys get exactly 0, and a row with no key at
// all gives 0 instead of NaN.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "frontends/onnx/TensorData.h"

#include "dialects/dl/ops/Attention.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Slice.h"

#include <cmath>

using namespace mlir;

namespace dlc::onnx {

namespace {

class AttentionImporter {
public:
  explicit AttentionImporter(NodeContext &c) : c(c), s{c} {}

  LogicalResult run() {
    if (failed(readInputs()))
      return failure();
    Value present[2] = {k, v};
    c.setOutput(1, present[0]);
    c.setOutput(2, present[1]);
    buildMask();
    Value y = attend();
    if (y && flat) {
      y = c.transpose(y, {0, 2, 1, 3});
      Value shape = s.concat({s.pick(s.shape(y), {0, 1}), c.ints({-1})});
      y = s.reshapeTo(y, shape);
    }
    return c.done(y);
  }

private:
  /// [B,S,heads*D] -> [B,heads,S,D]
  Value splitHeads(Value x, int64_t heads) {
    Value shape = s.concat({s.pick(s.shape(x), {0, 1}), c.ints({heads, -1})});
    return c.transpose(s.reshapeTo(x, shape), {0, 2, 1, 3});
  }

  LogicalResult readInputs() {
    q = c.input(0), k = c.input(1), v = c.input(2);
    if (!q || !k || !v)
      return c.invalid("needs Q, K and V");
    element = c.element(q);
    int64_t rank = c.rank(q);
    if ((rank != 3 && rank != 4) || c.rank(k) != rank || c.rank(v) != rank)
      return c.invalid("Q, K and V must all have rank 3 or all rank 4");
    flat = rank == 3;
    int64_t queryHeads = c.intAttr("q_num_heads", 0), keyHeads = c.intAttr("kv_num_heads", 0);
    if (flat) {
      if (queryHeads < 1 || keyHeads < 1)
        return c.invalid("needs q_num_heads and kv_num_heads for inputs of rank 3");
      q = splitHeads(q, queryHeads);
      k = splitHeads(k, keyHeads);
      v = splitHeads(v, keyHeads);
    }
    if (c.failed())
      return failure();
    int64_t headSize = c.type(q).getDimSize(3);
    if (ShapedType::isDynamic(headSize) && !c.has("scale"))
      return c.unsupported("a head size that is not static, without a scale");
    scale = c.floatAttr("scale", 0);
    if (!c.has("scale"))
      scale = 1 / std::sqrt(double(headSize));
    if (scale < 0)
      return c.unsupported("a negative scale");
    softcap = c.floatAttr("softcap", 0);
    causal = c.intAttr("is_causal", 0);
    leftWindow = c.intAttr("left_window_size", -1);
    rightWindow = c.intAttr("right_window_size", -1);
    if (leftWindow < -1 || rightWindow < -1)
      return c.invalid("window sizes must be -1 or more");
    if (bool(c.input(4)) != bool(c.input(5)))
      return c.invalid("past_key and past_value must be given together");
    if (Value past = c.input(4)) {
      if (c.input(6))
        return c.invalid("nonpad_kv_seqlen cannot be combined with a past");
      offset = s.toScalar(s.size(past, 2));
      k = s.concat({past, k}, 2);
      v = s.concat({c.input(5), v}, 2);
    }
    return success(!c.failed());
  }

  /// Y; also what output 3 shows of the way to it.
  Value attend() {
    Type precise = c.has("softmax_precision") ? c.elementTypeAttr("softmax_precision") : element;
    int64_t mode = c.intAttr("qk_matmul_output_mode", 0);
    if (!precise || c.failed())
      return {};
    auto number = [&](double v) { return c.b.getF64FloatAttr(v); };
    auto unit = [&](bool isSet) { return isSet ? c.b.getUnitAttr() : UnitAttr(); };
    Value y = c.make<dl::AttentionOp>(
        q, k, v, NodeContext::Omittable{allowed}, NodeContext::Omittable{bias}, number(scale),
        softcap > 0 ? number(softcap) : FloatAttr(), unit(isTopLeftCausal()), FloatAttr(),
        unit(allowed || bias || isTopLeftCausal()),
        precise == element ? TypeAttr() : TypeAttr::get(precise));
    if (!y || !c.wants(3))
      return y;
    auto stages = y.getDefiningOp<dl::AttentionOp>().expand(c.b);
    if (failed(stages))
      return {};
    c.setOutput(3, mode == 3 ? stages->weights : mode == 2 ? stages->masked : stages->scores);
    return stages->result;
  }

  Value minusInfinity() {
    return c.scalar(element, -std::numeric_limits<double>::infinity());
  }
  /// 0 where `allowed`, else -inf.
  Value toBias(Value allowed) {
    return c.make<dl::SelectOp>(allowed, c.scalar(element, 0), minusInfinity());
  }
  void restrict(Value more) { allowed = allowed ? c.make<dl::AndOp>(allowed, more) : more; }

  /// The mask input: bool says what is allowed, numbers are added.
  void readMask() {
    Value mask = c.input(3);
    if (!mask)
      return;
    int64_t rank = c.rank(mask);
    if (rank < 1 || rank > 4) {
      (void)c.invalid("attn_mask has rank " + Twine(rank));
      return;
    }
    bool isBool = c.element(mask).isInteger(1);
    if (c.dims(mask)[rank - 1] == c.dims(k)[2]) {
      if (isBool)
        restrict(mask);
      else
        bias = c.cast(mask, element);
      return;
    }
    // A narrower mask leaves the keys beyond it masked.
    Value narrow = isBool ? toBias(mask) : c.cast(mask, element);
    Value missing = c.make<dl::SubOp>(s.size(k, 2), s.size(narrow, rank - 1));
    NodeContext::Ints zeros(2 * rank - 1, 0);
    Value pads = s.concat({c.ints(zeros), missing});
    bias = c.make<dl::PadOp>(narrow, pads, minusInfinity(),
                             dl::PadModeAttr::get(c.b.getContext(), dl::PadMode::constant));
  }

  /// Row i sees the keys up to i: neither a past nor lengths shift it.
  bool isTopLeftCausal() { return causal && !offset && !c.input(6); }

  void buildMask() {
    readMask();
    Value lengths = c.input(6);
    bool isShifted = causal && !isTopLeftCausal();
    if (isShifted || leftWindow >= 0 || rightWindow >= 0) {
      Value rows = c.reshape(s.iota(s.toScalar(s.size(q, 2))), {-1, 1});
      Value columns = c.reshape(s.iota(s.toScalar(s.size(k, 2))), {1, -1});
      Value shift = offset;
      if (lengths) // per batch: [B,1,1,1]
        shift = c.reshape(c.make<dl::SubOp>(s.vector(lengths), s.size(q, 2)), {-1, 1, 1, 1});
      if (shift)
        rows = c.make<dl::AddOp>(rows, shift);
      Value ahead = c.make<dl::SubOp>(columns, rows); // key minus query position
      auto bound = [&](const char *predicate, int64_t value) {
        restrict(s.compare(predicate, ahead, c.intScalar(c.b.getI64Type(), value)));
      };
      if (isShifted)
        bound("le", 0);
      if (rightWindow >= 0)
        bound("le", rightWindow);
      if (leftWindow >= 0)
        bound("ge", -leftWindow);
    }
    if (lengths) {
      Value columns = s.iota(s.toScalar(s.size(k, 2)));
      restrict(s.compare("lt", columns, c.reshape(s.vector(lengths), {-1, 1, 1, 1})));
    }
  }

  NodeContext &c;
  ShapeTools s;
  Value q, k, v, offset, allowed, bias;
  Type element;
  bool flat = false, causal = false;
  double scale = 0, softcap = 0;
  int64_t leftWindow = -1, rightWindow = -1;
};

LogicalResult attention(NodeContext &c) { return AttentionImporter(c).run(); }

} // namespace

void addAttention(Registry &r) { r["Attention"] = attention; }

} // namespace dlc::onnx
