// `dlc new`: writes a model that begins from random parameters, to be trained.

#include "frontends/nn/models/Recipe.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace dlc::nn {

std::vector<std::unique_ptr<Recipe>> allRecipes() {
  std::vector<std::unique_ptr<Recipe>> all;
  all.push_back(simpleCnn());
  all.push_back(mobileNetV2());
  for (const char *kind : {"rnn", "lstm", "gru"})
    all.push_back(sequenceClassifier(kind));
  all.push_back(encoder());
  all.push_back(encoderDecoder());
  all.push_back(gpt());
  all.push_back(bert());
  return all;
}

namespace {

struct Output {
  std::string path;
  uint64_t seed = 0;
  bool forInference = false;
};

void write(const Recipe &recipe, const Output &output) {
  Graph graph(recipe.name(), output.seed);
  recipe.build(graph);
  graph.save(output.path, output.forInference ? Form::Inference : Form::Training);
  std::cout << output.path << ": " << recipe.name() << ", " << graph.numParameters() << " parameters\n";
}

void addCommand(CLI::App &parent, Recipe &recipe, Output &output) {
  CLI::App *app = parent.add_subcommand(recipe.name(), recipe.summary());
  recipe.addFlags(*app);
  app->add_option("-o,--output", output.path, "the ONNX file to write")->required();
  app->add_option("--seed", output.seed, "decides the first parameters")->capture_default_str();
  app->add_flag("--for-inference", output.forInference, "normalise by running statistics, drop nothing");
  app->callback([&recipe, &output] { write(recipe, output); });
}

int run(int argc, char **argv) {
  CLI::App app{"dlc", "dlc"};
  app.require_subcommand(1);
  CLI::App *command = app.add_subcommand("new", "write a model to train, from its kind and sizes");
  command->require_subcommand(1);
  command->footer("Example:\n  dlc new gpt --vocabulary 96 --length 64 -o gpt.onnx\n"
                  "  dlc new gpt --help");
  std::vector<std::unique_ptr<Recipe>> recipes = allRecipes();
  Output output;
  for (auto &recipe : recipes)
    addCommand(*command, *recipe, output);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::cerr << "error: usage: " << error.what() << "; see `dlc new --help`\n";
    return 2;
  }
  return 0;
}

} // namespace
} // namespace dlc::nn

int main(int argc, char **argv) {
  try {
    return dlc::nn::run(argc, argv);
  } catch (const dlc::nn::Error &error) {
    std::cerr << "error: usage: " << error.what() << "\n";
    return 2;
  } catch (const std::bad_alloc &) {
    std::cerr << "error: out of memory\n";
    return 5;
  }
}
