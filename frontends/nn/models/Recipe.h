// A model that `dlc new` writes: what it is, its flags, how it is built.

#ifndef DLC_FRONTENDS_NN_MODELS_RECIPE_H
#define DLC_FRONTENDS_NN_MODELS_RECIPE_H

#include "frontends/nn/nn.h"

#include <CLI/App.hpp>

namespace dlc::nn {

class Recipe {
public:
  virtual ~Recipe() = default;
  virtual const char *name() const = 0;
  virtual const char *summary() const = 0;
  virtual void addFlags(CLI::App &app) = 0;
  virtual void build(Graph &graph) const = 0;
};

std::unique_ptr<Recipe> simpleCnn();
std::unique_ptr<Recipe> mobileNetV2();
/// `kind` is "rnn", "lstm" or "gru".
std::unique_ptr<Recipe> sequenceClassifier(const char *kind);
std::unique_ptr<Recipe> encoder();
std::unique_ptr<Recipe> encoderDecoder();
std::unique_ptr<Recipe> gpt();
std::unique_ptr<Recipe> bert();

std::vector<std::unique_ptr<Recipe>> allRecipes();

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_MODELS_RECIPE_H
