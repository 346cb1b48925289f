// MobileNetV2 (Sandler et al., 2018): inverted residuals with linear bottlenecks.

#include "frontends/nn/models/Images.h"

namespace dlc::nn {

namespace {

/// A row of the paper's table 2: n blocks of c channels, expanded t times, the first with stride s.
struct Stage {
  int64_t t, c, n, s;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// The nearest multiple of 8 that is not below 90% of `channels`.
int64_t rounded(double channels) {
  int64_t result = std::max<int64_t>(8, int64_t(channels + 4) / 8 * 8);
  return double(result) < 0.9 * channels ? result + 8 : result;
}

Value invertedResidual(const Scope &scope, const Value &x, int64_t out, int64_t expansion, int64_t stride) {
  int64_t in = x.dim(1).size, hidden = in * expansion;
  Value y = x;
  if (expansion != 1)
    y = ConvBlock(scope / "expand", in, hidden, 1, {}, relu6)(y);
  y = ConvBlock(scope / "depthwise", hidden, hidden, 3, {.stride = stride, .padding = 1, .groups = hidden}, relu6)(y);
  y = ConvBlock(scope / "project", hidden, out, 1, {}, nullptr)(y);
  return stride == 1 && in == out ? x + y : y;
}

class MobileNetV2 : public Recipe {
  const char *name() const override { return "mobilenetv2"; }
  const char *summary() const override { return "MobileNetV2"; }
  void addFlags(CLI::App &app) override {
    image.add(app);
    app.add_option("--width", width, "multiplies all channels")->capture_default_str()->check(CLI::Range(0.1, 4.0));
    app.add_option("--dropout", dropout, "in front of the classifier")->capture_default_str()->check(CLI::Range(0.0, 0.99));
  }

  void build(Graph &graph) const override {
    Scope root(graph), features = root / "features";
    Value x = image.input(graph);
    int64_t index = 0;
    x = ConvBlock(features / index++, image.channels, rounded(32 * width), 3, {.stride = 2, .padding = 1}, relu6)(x);
    for (const Stage &stage : kStages)
      for (int64_t i = 0; i < stage.n; ++i)
        x = invertedResidual(features / index++, x, rounded(double(stage.c) * width), stage.t, i == 0 ? stage.s : 1);
    int64_t last = rounded(1280 * std::max(1.0, width));
    x = globalAvgPool2d(ConvBlock(features / index, x.dim(1).size, last, 1, {}, relu6)(x));
    graph.output("logits", Linear(root / "classifier", last, image.classes)(Dropout(float(dropout))(x)));
  }

  ImageFlags image{.size = 224, .classes = 1000};
  double width = 1, dropout = 0.2;
};

} // namespace

std::unique_ptr<Recipe> mobileNetV2() { return std::make_unique<MobileNetV2>(); }

} // namespace dlc::nn
