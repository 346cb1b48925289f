// RNN, GRU and LSTM: the inputs' projection is a matrix product, the recurrence
// one op per direction.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Recurrent.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

class RecurrentImporter {
public:
  RecurrentImporter(NodeContext &c, dl::RecurrentKind kind) : c(c), s{c}, kind(kind) {}

  LogicalResult run() {
    if (!c.input(0) || !c.input(1) || !c.input(2) || c.rank(c.input(0)) != 3 ||
        c.rank(c.input(1)) != 3 || c.rank(c.input(2)) != 3)
      return c.invalid("needs X, W and R of rank 3");
    if (!c.type(c.input(1)).hasStaticShape() || !c.type(c.input(2)).hasStaticShape())
      return c.unsupported("weights of symbolic shape");
    hidden = c.type(c.input(2)).getDimSize(2);
    gates = c.type(c.input(2)).getDimSize(1) / std::max<int64_t>(1, hidden);
    c.ignoreAttr("hidden_size"); // R says it
    c.ignoreAttr("output_sequence");
    batchFirst = c.intAttr("layout", 0);
    std::string direction = c.stringAttr("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      return c.invalid("direction '" + direction + "' does not exist");
    directions = direction == "bidirectional" ? 2 : 1;
    if (c.type(c.input(1)).getDimSize(0) != directions ||
        c.type(c.input(2)).getDimSize(0) != directions)
      return c.invalid("W or R does not have one entry per direction");
    if (failed(readActivations()))
      return failure();
    SmallVector<Value> sequences, hs, cs;
    for (int64_t d = 0; d < directions; ++d) {
      SmallVector<Value> results = one(d, direction == "reverse" || d == 1);
      if (!results[0])
        return failure();
      sequences.push_back(s.unsqueeze(results[0], 1)); // [T,1,N,H]
      hs.push_back(s.unsqueeze(results[1], 0));        // [1,N,H]
      cs.push_back(s.unsqueeze(results[2], 0));
    }
    Value y = s.concat(sequences, 1), h = s.concat(hs), cell = s.concat(cs);
    if (batchFirst) {
      y = c.transpose(y, {2, 0, 1, 3});
      h = c.transpose(h, {1, 0, 2});
      cell = c.transpose(cell, {1, 0, 2});
    }
    c.setOutput(0, y);
    c.setOutput(1, h);
    c.setOutput(2, cell);
    return success(y && h && cell);
  }

private:
  LogicalResult readActivations() {
    size_t perDirection = kind == dl::RecurrentKind::rnn ? 1 : kind == dl::RecurrentKind::gru ? 2 : 3;
    std::vector<std::string> defaults =
        kind == dl::RecurrentKind::rnn   ? std::vector<std::string>{"Tanh"}
        : kind == dl::RecurrentKind::gru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                         : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    const Attr *given = c.attribute("activations", Attr::Strings);
    SmallVector<double> alphas = c.floatsAttr("activation_alpha"), betas = c.floatsAttr("activation_beta");
    size_t nextAlpha = 0, nextBeta = 0;
    for (size_t i = 0; i < perDirection * directions; ++i) {
      std::string name = given && i < given->strings.size() ? std::string(given->strings[i])
                                                             : defaults[i % perDirection];
      // Lists of parameters hold values only for functions that take them.
      struct Defaults { const char *name; double alpha, beta; bool hasAlpha, hasBeta; };
      static const Defaults table[] = {
          {"Affine", 1, 0, true, true},          {"LeakyRelu", 0.01, 0, true, false},
          {"ThresholdedRelu", 1, 0, true, false}, {"ScaledTanh", 1, 1, true, true},
          {"HardSigmoid", 0.2, 0.5, true, true}, {"Elu", 1, 0, true, false}};
      double alpha = 0, beta = 0;
      for (const Defaults &entry : table)
        if (name == entry.name) {
          alpha = entry.hasAlpha && nextAlpha < alphas.size() ? alphas[nextAlpha++] : entry.alpha;
          beta = entry.hasBeta && nextBeta < betas.size() ? betas[nextBeta++] : entry.beta;
        }
      names.push_back(c.b.getStringAttr(name));
      alphaAttrs.push_back(c.b.getF64FloatAttr(alpha));
      betaAttrs.push_back(c.b.getF64FloatAttr(beta));
    }
    clip = c.has("clip") ? c.b.getF64FloatAttr(c.floatAttr("clip", 0)) : FloatAttr();
    linearBeforeReset = c.intAttr("linear_before_reset", 0);
    inputForget = c.intAttr("input_forget", 0);
    return success(!c.failed());
  }

  /// Entry `d` of a tensor whose first axis is the direction.
  Value entry(Value v, int64_t d) { return v ? s.dropAxis(s.slice(v, 0, d, d + 1), 0) : Value(); }

  /// [N,H] of an initial state, or zeros.
  Value state(Value v, int64_t d, Value batch) {
    if (v && batchFirst)
      v = c.transpose(v, {1, 0, 2});
    if (v)
      return entry(v, d);
    Value shape = s.concat({batch, c.ints({hidden})});
    return s.expandTo(c.scalar(c.element(c.input(0)), 0), shape);
  }

  SmallVector<Value> one(int64_t d, bool reverse) {
    Value x = c.input(0);
    if (batchFirst)
      x = c.transpose(x, {1, 0, 2});
    Value w = entry(c.input(1), d), r = entry(c.input(2), d);
    Value zeroBias = s.expandTo(c.scalar(c.element(x), 0), c.ints({gates * hidden}));
    Value both = entry(c.input(3), d);
    Value inputBias = both ? s.slice(both, 0, 0, gates * hidden) : zeroBias;
    Value hiddenBias = both ? s.slice(both, 0, gates * hidden, 2 * gates * hidden) : zeroBias;
    Value projected = c.make<dl::AddOp>(
        c.make<dl::MatMulOp>(x, w, UnitAttr(), c.b.getUnitAttr()), inputBias);
    Value batch = s.size(x, 1);
    size_t stateInput = 5;
    Value h = state(c.input(stateInput), d, batch);
    bool isLstm = kind == dl::RecurrentKind::lstm;
    Value cell = isLstm ? state(c.input(6), d, batch) : h;
    Value peepholes = isLstm ? entry(c.input(7), d) : Value();
    Value lengths = c.input(4) ? c.cast(c.input(4), c.b.getI64Type()) : Value();
    size_t each = names.size() / directions;
    auto part = [&](ArrayRef<Attribute> list) { return c.b.getArrayAttr(list.slice(d * each, each)); };
    auto unit = [&](bool set) { return set ? c.b.getUnitAttr() : UnitAttr(); };
    return c.makeMulti<dl::RecurrentOp>(
        3, projected, r, hiddenBias, h, cell, NodeContext::Omittable{lengths},
        NodeContext::Omittable{peepholes},
        dl::RecurrentKindAttr::get(c.b.getContext(), kind), part(names), part(alphaAttrs),
        part(betaAttrs), unit(reverse), unit(linearBeforeReset), unit(inputForget), clip);
  }

  using Attribute = mlir::Attribute;
  NodeContext &c;
  ShapeTools s;
  dl::RecurrentKind kind;
  int64_t hidden = 0, gates = 0, directions = 1;
  bool batchFirst = false, linearBeforeReset = false, inputForget = false;
  SmallVector<Attribute> names, alphaAttrs, betaAttrs;
  FloatAttr clip;
};

template <dl::RecurrentKind kind> LogicalResult recurrent(NodeContext &c) {
  return RecurrentImporter(c, kind).run();
}

} // namespace

void addRecurrents(Registry &r) {
  r["GRU"] = recurrent<dl::RecurrentKind::gru>;
  r["LSTM"] = recurrent<dl::RecurrentKind::lstm>;
  r["RNN"] = recurrent<dl::RecurrentKind::rnn>;
}

} // namespace dlc::onnx
