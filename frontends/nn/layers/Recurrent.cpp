#include "frontends/nn/layers/Recurrent.h"

#include "frontends/nn/Functions.h"
#include "frontends/nn/layers/Basic.h"

namespace dlc::nn {

Recurrent::Recurrent(Scope scope, Kind kind, int64_t in, int64_t hidden, RecurrentOptions options)
    : scope(scope), kind(kind), in(in), hidden(hidden), directions(options.bidirectional ? 2 : 1), options(options) {
  if (options.layers < 1)
    scope.fail("a " + std::string(kind.op) + " needs a layer");
  Init init = Init::fanIn(hidden);
  for (int64_t i = 0; i < options.layers; ++i) {
    int64_t width = i == 0 ? in : directions * hidden;
    layers.push_back({(scope / i).parameter("W", {directions, kind.gates * hidden, width}, init),
                      (scope / i).parameter("R", {directions, kind.gates * hidden, hidden}, init),
                      (scope / i).parameter("B", {directions, 2 * kind.gates * hidden}, init)});
  }
}

/// [t, n, width] -> [t, d, n, hidden] and the final states [d, n, hidden].
std::vector<Value> Recurrent::run(const Layer &layer, const Value &x) const {
  std::vector<Attribute> attributes = {{"hidden_size", hidden},
                                       {"direction", std::string(options.bidirectional ? "bidirectional" : "forward")}};
  if (std::string(kind.op) == "GRU")
    attributes.push_back({"linear_before_reset", int64_t(1)});
  Result sequence{x.type(), {x.dim(0), Dim(directions), x.dim(1), Dim(hidden)}};
  Result final{x.type(), {Dim(directions), x.dim(1), Dim(hidden)}};
  return x.graph().nodes(kind.op, {&x, &layer.w, &layer.r, &layer.b}, {sequence, final}, std::move(attributes), 4, 2);
}

RecurrentResult Recurrent::operator()(const Value &x) const {
  NameScope names(scope);
  if (x.rank() != 3 || (x.dim(2).isFixed() && x.dim(2).size != in))
    scope.fail("the input has shape " + toString(x.shape()) + ", not [n, t, " + std::to_string(in) + "]");
  Dropout drop(options.dropout);
  // Both kinds of results have the directions in front of the batch: [.., n, d * hidden].
  auto join = [&](const Value &y, std::vector<int64_t> order, int64_t directionAxis) {
    if (directions == 1)
      return squeeze(y, directionAxis);
    std::vector<int64_t> sizes(y.rank() - 2, 0);
    sizes.push_back(directions * hidden);
    return reshape(transpose(y, std::move(order)), std::move(sizes));
  };
  Value steps = transpose(x, {1, 0, 2});
  std::vector<Value> results;
  for (size_t i = 0; i < layers.size(); ++i) {
    results = run(layers[i], i == 0 ? steps : drop(steps));
    steps = join(results[0], {0, 2, 1, 3}, 1);
  }
  return {transpose(steps, {1, 0, 2}), join(results[1], {1, 0, 2}, 0)};
}

} // namespace dlc::nn
