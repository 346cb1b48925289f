// Attention (opsets 23 to 25) as products, masks and a softmax. Masked keys get
// exactly 0, and a row with no key at all gives 0 instead of NaN.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "frontends/onnx/TensorData.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Reduce.h"
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
    repeatHeads();
    // The scale is split over both factors, as ONNX's definition does.
    Value root = c.scalar(element, std::sqrt(scale));
    Value logits = c.make<dl::MatMulOp>(c.make<dl::MulOp>(q, root), c.make<dl::MulOp>(k, root),
                                        UnitAttr(), c.b.getUnitAttr());
    int64_t mode = c.intAttr("qk_matmul_output_mode", 0);
    Value shown = logits;
    if (softcap > 0) {
      Value cap = c.scalar(element, softcap);
      logits = c.make<dl::MulOp>(c.make<dl::TanhOp>(c.make<dl::DivOp>(logits, cap)), cap);
      shown = logits;
    }
    Value bias = buildBias();
    if (c.failed())
      return failure();
    Value biased = bias ? c.make<dl::AddOp>(logits, bias) : logits;
    if (mode == 2)
      shown = biased;
    Type precise = c.has("softmax_precision") ? c.elementTypeAttr("softmax_precision") : element;
    if (!precise)
      return failure();
    Value wide = c.cast(biased, precise);
    Value weights = c.make<dl::SoftmaxOp>(wide, c.b.getI64IntegerAttr(3), UnitAttr());
    weights = c.cast(weights, element);
    if (bias)
      weights = c.make<dl::SelectOp>(isMaskedRow(bias), c.scalar(element, 0), weights);
    if (mode == 3)
      shown = weights;
    c.setOutput(3, shown);
    Value y = c.make<dl::MatMulOp>(weights, v, UnitAttr(), UnitAttr());
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

  /// [B,kv,S,D] -> [B,q,S,D], each head repeated.
  void repeatHeads() {
    int64_t queryHeads = c.type(q).getDimSize(1), keyHeads = c.type(k).getDimSize(1);
    if (queryHeads == keyHeads)
      return;
    if (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(keyHeads) || keyHeads == 0 ||
        queryHeads % keyHeads != 0) {
      (void)c.invalid(Twine(queryHeads) + " query heads are not a multiple of " +
                      Twine(keyHeads) + " key heads");
      return;
    }
    for (Value *x : {&k, &v}) {
      Value shape = s.shape(*x), rest = s.pick(shape, {2, 3}), batch = s.pick(shape, {0});
      Value wide = s.expandTo(s.unsqueeze(*x, 2),
                              s.concat({batch, c.ints({keyHeads, queryHeads / keyHeads}), rest}));
      *x = s.reshapeTo(wide, s.concat({batch, c.ints({queryHeads}), rest}));
    }
  }

  Value minusInfinity() {
    return c.scalar(element, -std::numeric_limits<double>::infinity());
  }
  /// 0 where `allowed`, else -inf.
  Value toBias(Value allowed) {
    return c.make<dl::SelectOp>(allowed, c.scalar(element, 0), minusInfinity());
  }
  Value both(Value a, Value b) { return a ? c.make<dl::AndOp>(a, b) : b; }

  /// The mask input as an additive bias as wide as the keys.
  Value maskBias() {
    Value mask = c.input(3);
    if (!mask)
      return {};
    Value bias = c.element(mask).isInteger(1) ? toBias(mask) : c.cast(mask, element);
    if (!bias)
      return {};
    int64_t rank = c.rank(mask);
    if (rank < 1 || rank > 4) {
      (void)c.invalid("attn_mask has rank " + Twine(rank));
      return {};
    }
    if (c.dims(bias)[rank - 1] == c.dims(k)[2])
      return bias;
    // A narrower mask leaves the keys beyond it masked.
    Value missing = c.make<dl::SubOp>(s.size(k, 2), s.size(bias, rank - 1));
    NodeContext::Ints zeros(2 * rank - 1, 0);
    Value pads = s.concat({c.ints(zeros), missing});
    return c.make<dl::PadOp>(bias, pads, minusInfinity(),
                             dl::PadModeAttr::get(c.b.getContext(), dl::PadMode::constant));
  }

  Value buildBias() {
    Value bias = maskBias(), allowed;
    auto merge = [&](Value more) { bias = bias ? c.make<dl::AddOp>(bias, more) : more; };
    Value lengths = c.input(6);
    bool windowed = leftWindow >= 0 || rightWindow >= 0;
    if (causal || windowed) {
      Type i64 = c.b.getI64Type();
      Value rows = c.reshape(s.iota(s.toScalar(s.size(q, 2))), {-1, 1});
      Value columns = c.reshape(s.iota(s.toScalar(s.size(k, 2))), {1, -1});
      Value shift = offset;
      if (lengths) // per batch: [B,1,1,1]
        shift = c.reshape(c.make<dl::SubOp>(s.vector(lengths), s.size(q, 2)), {-1, 1, 1, 1});
      if (shift)
        rows = c.make<dl::AddOp>(rows, shift);
      Value ahead = c.make<dl::SubOp>(columns, rows); // key minus query position
      auto bound = [&](const char *predicate, int64_t value) {
        allowed = both(allowed, s.compare(predicate, ahead, c.intScalar(i64, value)));
      };
      if (causal)
        bound("le", 0);
      if (rightWindow >= 0)
        bound("le", rightWindow);
      if (leftWindow >= 0)
        bound("ge", -leftWindow);
      merge(toBias(allowed));
    }
    if (lengths) {
      Value columns = s.iota(s.toScalar(s.size(k, 2)));
      Value ends = c.reshape(s.vector(lengths), {-1, 1, 1, 1});
      merge(toBias(s.compare("lt", columns, ends)));
    }
    return bias;
  }

  /// [.., q, 1]: rows whose bias is -inf throughout.
  Value isMaskedRow(Value bias) {
    int64_t last = c.rank(bias) - 1;
    Value most = c.make<dl::ReduceOp>(
        bias, dl::ReduceKindAttr::get(c.b.getContext(), dl::ReduceKind::max), c.array({last}),
        c.b.getBoolAttr(true));
    return s.compare("eq", most, minusInfinity());
  }

  NodeContext &c;
  ShapeTools s;
  Value q, k, v, offset;
  Type element;
  bool flat = false, causal = false;
  double scale = 0, softcap = 0;
  int64_t leftWindow = -1, rightWindow = -1;
};

LogicalResult attention(NodeContext &c) { return AttentionImporter(c).run(); }

} // namespace

void addAttention(Registry &r) { r["Attention"] = attention; }

} // namespace dlc::onnx
