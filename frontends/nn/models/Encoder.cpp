// A transformer encoder that labels every token, and an encoder-decoder that translates.

#include "frontends/nn/models/Tokens.h"

namespace dlc::nn {

namespace {

class Encoder : public Recipe {
  const char *name() const override { return "encoder"; }
  const char *summary() const override { return "transformer encoder: a class for every token"; }
  void addFlags(CLI::App &app) override {
    tokens.add(app);
    app.add_option("--classes", classes, "classes to tell apart")->capture_default_str()->check(CLI::PositiveNumber);
  }

  void build(Graph &graph) const override {
    Scope root(graph);
    int64_t width = tokens.transformer.width;
    Value x = Embedding(root / "tokens", tokens.vocabulary, width)(tokens.input(graph, "x"));
    x = Dropout(tokens.transformer.dropout)(LearnedPositions(root / "positions", tokens.length, width)(x));
    for (int64_t i = 0; i < tokens.layers; ++i)
      x = TransformerEncoderLayer(root / "layers" / i, tokens.transformer)(x);
    graph.output("logits", Linear(root / "classifier", width, classes)(x));
  }

  TokenFlags tokens{256, 128, 2, {.width = 256, .heads = 4}};
  int64_t classes = 10;
};

/// Inputs: source tokens, and the target moved right by one, from which it predicts the target.
class EncoderDecoder : public Recipe {
  const char *name() const override { return "encoder-decoder"; }
  const char *summary() const override { return "transformer that turns sequences into sequences"; }
  void addFlags(CLI::App &app) override {
    tokens.add(app);
    app.add_option("--padding", padding, "the token that fills up the source")->capture_default_str();
  }

  void build(Graph &graph) const override {
    Scope root(graph);
    int64_t width = tokens.transformer.width;
    Value source = tokens.input(graph, "source"), target = tokens.input(graph, "target");
    Embedding embedding(root / "tokens", tokens.vocabulary, width, Init::normal(0.02));
    LearnedPositions place(root / "positions", tokens.length, width);
    Dropout drop(tokens.transformer.dropout);
    Value hidden = paddingMask(source, padding), memory = drop(place(embedding(source)));
    for (int64_t i = 0; i < tokens.layers; ++i)
      memory = TransformerEncoderLayer(root / "encoder" / i, tokens.transformer)(memory, hidden);
    Value y = drop(place(embedding(target))), causal = causalMask(y, y);
    for (int64_t i = 0; i < tokens.layers; ++i)
      y = TransformerDecoderLayer(root / "decoder" / i, tokens.transformer)(y, memory, causal, hidden);
    graph.output("logits", Linear(root / "out", width, tokens.vocabulary)(y));
  }

  TokenFlags tokens{64, 32, 2, {.width = 128, .heads = 4, .dropout = 0, .normFirst = true}};
  int64_t padding = 0;
};

} // namespace

std::unique_ptr<Recipe> encoder() { return std::make_unique<Encoder>(); }
std::unique_ptr<Recipe> encoderDecoder() { return std::make_unique<EncoderDecoder>(); }

} // namespace dlc::nn
