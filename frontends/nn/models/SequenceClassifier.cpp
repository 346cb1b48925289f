// RNN, LSTM or GRU over a sequence of vectors, and a class from the last state.

#include "frontends/nn/models/Recipe.h"

namespace dlc::nn {

namespace {

class SequenceClassifier : public Recipe {
public:
  explicit SequenceClassifier(std::string kind) : kind(std::move(kind)) {}

private:
  const char *name() const override { return kind.c_str(); }
  const char *summary() const override { return "recurrent classifier of sequences of vectors"; }
  void addFlags(CLI::App &app) override {
    auto number = [&](const char *flag, int64_t &value, const char *help) {
      app.add_option(flag, value, help)->capture_default_str()->check(CLI::PositiveNumber);
    };
    number("--features", features, "size of a vector");
    number("--length", length, "vectors in a sequence");
    number("--hidden", hidden, "size of the state");
    app.add_option("--layers", options.layers, "layers")->capture_default_str()->check(CLI::Range(1, 1000));
    number("--classes", classes, "classes to tell apart");
    app.add_flag("--bidirectional", options.bidirectional, "also from the end");
    app.add_option("--dropout", options.dropout, "between layers")->capture_default_str()->check(CLI::Range(0.0, 0.99));
  }

  RecurrentResult run(const Scope &scope, const Value &x) const {
    if (kind == "lstm")
      return LSTM(scope, features, hidden, options)(x);
    return kind == "gru" ? GRU(scope, features, hidden, options)(x) : RNN(scope, features, hidden, options)(x);
  }

  void build(Graph &graph) const override {
    Scope root(graph);
    Value x = graph.input("x", ElementType::Float32, {"N", length, features});
    Value last = run(root / kind, x).last;
    graph.output("logits", Linear(root / "classifier", last.dim(1).size, classes)(last));
  }

  std::string kind;
  int64_t features = 28, length = 28, hidden = 64, classes = 10;
  RecurrentOptions options;
};

} // namespace

std::unique_ptr<Recipe> sequenceClassifier(const char *kind) { return std::make_unique<SequenceClassifier>(kind); }

} // namespace dlc::nn
