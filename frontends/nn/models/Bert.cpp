// A small BERT (Devlin et al., 2018): post-norm encoder, padding hidden, classes from the
// first token.

#include "frontends/nn/models/Tokens.h"

namespace dlc::nn {

namespace {

class Bert : public Recipe {
  const char *name() const override { return "bert"; }
  const char *summary() const override { return "small BERT: classifies sequences of tokens"; }
  void addFlags(CLI::App &app) override {
    tokens.add(app);
    app.add_option("--classes", classes, "classes to tell apart")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--padding", padding, "the token that fills up")->capture_default_str();
  }

  void build(Graph &graph) const override {
    Scope root(graph);
    int64_t width = tokens.transformer.width;
    Value ids = tokens.input(graph, "x"), kinds = tokens.input(graph, "segments");
    Init init = Init::truncatedNormal(0.02);
    Value x = Embedding(root / "tokens", tokens.vocabulary, width, init)(ids) +
              Embedding(root / "segments_embedding", 2, width, init)(kinds);
    x = LearnedPositions(root / "positions", tokens.length, width, init)(x);
    x = Dropout(tokens.transformer.dropout)(LayerNorm(root / "norm", width, 1e-12f)(x));
    Value mask = paddingMask(ids, padding);
    for (int64_t i = 0; i < tokens.layers; ++i)
      x = TransformerEncoderLayer(root / "layers" / i, tokens.transformer)(x, mask);
    Value pooled = tanh(Linear(root / "pooler", width, width)(select(x, 1, 0)));
    graph.output("logits", Linear(root / "classifier", width, classes)(Dropout(tokens.transformer.dropout)(pooled)));
  }

  TokenFlags tokens{1000, 128, 2, {.width = 128, .heads = 2, .gelu = true}};
  int64_t classes = 2, padding = 0;
};

} // namespace

std::unique_ptr<Recipe> bert() { return std::make_unique<Bert>(); }

} // namespace dlc::nn
