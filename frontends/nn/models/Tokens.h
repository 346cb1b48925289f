// What models of token sequences share.

#ifndef DLC_FRONTENDS_NN_MODELS_TOKENS_H
#define DLC_FRONTENDS_NN_MODELS_TOKENS_H

#include "frontends/nn/models/Recipe.h"

namespace dlc::nn {

struct TokenFlags {
  int64_t vocabulary, length, layers;
  TransformerOptions transformer;

  void add(CLI::App &app) {
    auto number = [&](const char *flag, int64_t &value, const char *help) {
      app.add_option(flag, value, help)->capture_default_str()->check(CLI::PositiveNumber);
    };
    number("--vocabulary", vocabulary, "different tokens");
    number("--length", length, "tokens in a sequence");
    app.add_option("--layers", layers, "layers")->capture_default_str()->check(CLI::Range(1, 1000));
    number("--width", transformer.width, "size of a token's vector");
    number("--heads", transformer.heads, "heads of attention");
    app.add_option("--dropout", transformer.dropout, "share of elements dropped")->capture_default_str()->check(CLI::Range(0.0, 0.99));
  }
  Value input(Graph &graph, const char *name) const {
    return graph.input(name, ElementType::Int64, {"N", length});
  }
};

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_MODELS_TOKENS_H
