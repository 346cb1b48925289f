// A small GPT-2 (Radford et al., 2019): pre-norm layers under a causal mask, the output
// shares the embedding's weights.

#include "frontends/nn/models/Tokens.h"

namespace dlc::nn {

namespace {

class Gpt : public Recipe {
  const char *name() const override { return "gpt"; }
  const char *summary() const override { return "small GPT: predicts every next token"; }
  void addFlags(CLI::App &app) override { tokens.add(app); }

  void build(Graph &graph) const override {
    Scope root(graph);
    int64_t width = tokens.transformer.width;
    Embedding embedding(root / "tokens", tokens.vocabulary, width, Init::normal(0.02));
    Value x = embedding(tokens.input(graph, "x"));
    x = LearnedPositions(root / "positions", tokens.length, width)(x);
    x = Dropout(tokens.transformer.dropout)(x);
    Value mask = causalMask(x, x);
    for (int64_t i = 0; i < tokens.layers; ++i)
      x = TransformerEncoderLayer(root / "layers" / i, tokens.transformer)(x, mask);
    graph.output("logits", embedding.attend(LayerNorm(root / "norm", width)(x)));
  }

  TokenFlags tokens{256, 128, 6, {.width = 256, .heads = 8, .normFirst = true, .gelu = true}};
};

} // namespace

std::unique_ptr<Recipe> gpt() { return std::make_unique<Gpt>(); }

} // namespace dlc::nn
