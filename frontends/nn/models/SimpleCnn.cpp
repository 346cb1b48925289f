// Two convolution blocks and two linear layers.

#include "frontends/nn/models/Images.h"

namespace dlc::nn {

namespace {

class SimpleCnn : public Recipe {
  const char *name() const override { return "simplecnn"; }
  const char *summary() const override { return "two conv+BN+ReLU blocks, for small images"; }
  void addFlags(CLI::App &app) override {
    image.add(app);
    app.add_option("--width", width, "channels of the first block")->capture_default_str()->check(CLI::PositiveNumber);
  }

  void build(Graph &graph) const override {
    Scope root(graph);
    auto pool = [](const Value &x) { return maxPool2d(x, 2); };
    Sequential features(root / "features");
    features.add<ConvBlock>(image.channels, width, 3, Conv2d::Options{.padding = 1}).then(pool);
    features.add<ConvBlock>(width, 2 * width, 3, Conv2d::Options{.padding = 1}).then(pool);
    Value x = flatten(features(image.input(graph)));
    Value hidden = relu(Linear(root / "hidden", x.dim(1).size, 128)(x));
    graph.output("logits", Linear(root / "classifier", 128, image.classes)(hidden));
  }

  ImageFlags image{.size = 28};
  int64_t width = 32;
};

} // namespace

std::unique_ptr<Recipe> simpleCnn() { return std::make_unique<SimpleCnn>(); }

} // namespace dlc::nn
