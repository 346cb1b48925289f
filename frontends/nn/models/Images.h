// What models of images share: the flags of their input.

#ifndef DLC_FRONTENDS_NN_MODELS_IMAGES_H
#define DLC_FRONTENDS_NN_MODELS_IMAGES_H

#include "frontends/nn/models/Recipe.h"

namespace dlc::nn {

struct ImageFlags {
  int64_t channels = 3, size, classes = 10;

  void add(CLI::App &app) {
    app.add_option("--channels", channels, "channels of an image")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--size", size, "height and width of an image")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--classes", classes, "classes to tell apart")->capture_default_str()->check(CLI::PositiveNumber);
  }
  Value input(Graph &graph) const { return graph.input("x", ElementType::Float32, {"N", channels, size, size}); }
};

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_MODELS_IMAGES_H
