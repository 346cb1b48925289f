// Shapes, names, first values and errors of models built in C++. What the files compute
// is tested by test/train/new.py.

#include "frontends/nn/nn.h"

#include "frontends/onnx/onnx.pb.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace dlc::nn;

namespace {

constexpr ElementType kFloat = ElementType::Float32, kInt = ElementType::Int64;

dlc::onnx::GraphProto saved(const Graph &graph, Form form = Form::Training) {
  dlc::onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(graph.serialize(form)));
  return model.graph();
}

std::vector<float> initializer(const dlc::onnx::GraphProto &graph, const std::string &name) {
  for (const auto &tensor : graph.initializer())
    if (tensor.name() == name) {
      std::vector<float> values(tensor.raw_data().size() / sizeof(float));
      std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
      return values;
    }
  ADD_FAILURE() << "no initializer " << name;
  return {};
}

template <typename Function> std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST(Shapes, FollowLayers) {
  Graph graph("g");
  Value x = graph.input("x", kFloat, {"N", 3, 29, 28});
  Value y = Conv2d(Scope(graph) / "c", 3, 8, 3, {.stride = 2, .padding = 1, .groups = 1})(x);
  EXPECT_EQ(toString(y.shape()), "[N, 8, 15, 14]");
  EXPECT_EQ(toString(maxPool2d(y, 2).shape()), "[N, 8, 7, 7]");
  EXPECT_EQ(toString(flatten(y).shape()), "[N, 1680]");
  EXPECT_EQ(toString(globalAvgPool2d(y).shape()), "[N, 8]");
  EXPECT_EQ(toString(concat({y, y}, 1).shape()), "[N, 16, 15, 14]");
}

TEST(Shapes, KeepSymbols) {
  Graph graph("g");
  Value x = graph.input("x", kFloat, {"N", "T", 12});
  EXPECT_EQ(toString(reshape(x, {0, 0, 3, 4}).shape()), "[N, T, 3, 4]");
  EXPECT_EQ(toString(reshape(x, {0, -1, 12}).shape()), "[N, T, 12]");
  EXPECT_EQ(toString(reshape(x, {-1, 12}).shape()), "[?, 12]");
  EXPECT_EQ(toString((x + graph.constant(1.0f)).shape()), "[N, T, 12]");
  EXPECT_EQ(toString(causalMask(x, x).shape()), "[T, T]");
  RecurrentResult result = LSTM(Scope(graph) / "l", 12, 5, {.layers = 2, .bidirectional = true})(x);
  EXPECT_EQ(toString(result.sequence.shape()), "[N, T, 10]");
  EXPECT_EQ(toString(result.last.shape()), "[N, 10]");
  EXPECT_EQ(toString(MultiHeadAttention(Scope(graph) / "a", 12, 3)(x, x).shape()), "[N, T, 12]");
}

TEST(Shapes, ThatDoNotFitAreErrors) {
  Graph graph("g");
  Scope root(graph);
  Value x = graph.input("x", kFloat, {"N", 3, 8, 8}), tokens = graph.input("t", kInt, {"N", 9});
  EXPECT_EQ(errorOf([&] { Conv2d(root / "block" / 0, 4, 8, 3)(x); }),
            "block.0: the input has 3 channels, the layer takes 4; its shape is [N, 3, 8, 8]");
  EXPECT_EQ(errorOf([&] { Linear(root / "fc", 7, 2)(x); }),
            "fc: the input has 8 features, the layer takes 7; its shape is [N, 3, 8, 8]");
  EXPECT_EQ(errorOf([&] { Conv2d(root / "large", 3, 8, 11)(x); }), "a window of 11 does not fit into 8 with padding 0");
  EXPECT_EQ(errorOf([&] { Conv2d(root / "groups", 3, 8, 3, {.groups = 2}); }),
            "groups: 3 channels cannot be divided into 2 groups");
  EXPECT_EQ(errorOf([&] { MultiHeadAttention(root / "a", 10, 3); }), "a: width 10 cannot be divided into 3 heads");
  EXPECT_EQ(errorOf([&] { reshape(x, {0, 5, -1}); }),
            "a tensor of shape [N, 3, 8, 8] cannot be reshaped to [0, 5, ?]");
  EXPECT_EQ(errorOf([&] { reshape(select(x, 0, 0), {5, -1}); }),
            "a tensor of shape [3, 8, 8] cannot be reshaped to [5, ?]");
  EXPECT_EQ(errorOf([&] { x + select(x, 3, 0); }), "shapes [N, 3, 8, 8] and [N, 3, 8] do not broadcast");
  EXPECT_EQ(errorOf([&] { LearnedPositions(root / "p", 8, 4)(Embedding(root / "e", 5, 4)(tokens)); }),
            "p: a sequence of 9 does not fit into 8 positions");
}

TEST(Names, OfParametersAreScopes) {
  Graph graph("g");
  Sequential net(Scope(graph) / "net");
  net.add<Linear>(4, 8).then(relu).add<Linear>(8, 2);
  graph.output("y", net(graph.input("x", kFloat, {"N", 4})));
  std::vector<std::string> names;
  dlc::onnx::GraphProto proto = saved(graph);
  for (const auto &tensor : proto.initializer())
    names.push_back(tensor.name());
  EXPECT_EQ(names, (std::vector<std::string>{"net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"}));
  EXPECT_EQ(proto.node(0).name(), "net.0/Gemm");
  EXPECT_EQ(errorOf([&] { Linear(Scope(graph) / "net" / 0, 4, 8); }),
            "graph 'g' has two values named 'net.0.weight'");
}

TEST(Parameters, AreSharedByCalls) {
  Graph graph("g");
  Linear layer(Scope(graph) / "l", 4, 4);
  graph.output("y", layer(layer(graph.input("x", kFloat, {"N", 4}))));
  EXPECT_EQ(saved(graph).initializer_size(), 2);
  EXPECT_EQ(graph.numParameters(), 20u);
}

TEST(Parameters, BeginByTheirNamesAndTheSeed) {
  auto weights = [](uint64_t seed, bool more) {
    Graph graph("g", seed);
    Scope root(graph);
    Value x = graph.input("x", kFloat, {"N", 100});
    if (more)
      x = Linear(root / "first", 100, 100)(x);
    graph.output("y", Linear(root / "last", 100, 100)(x));
    return initializer(saved(graph), "last.weight");
  };
  std::vector<float> values = weights(1, false);
  EXPECT_EQ(values, weights(1, true));
  EXPECT_NE(values, weights(2, false));
  double sum = 0, square = 0;
  for (float v : values) {
    EXPECT_LE(std::abs(v), 0.1f); // 1 / sqrt(100)
    sum += v;
    square += double(v) * v;
  }
  EXPECT_NEAR(sum / 1e4, 0, 0.003);
  EXPECT_NEAR(square / 1e4, 0.01 / 3, 1e-4); // variance of a uniform draw
}

TEST(Parameters, NormalDrawsHaveTheirDeviation) {
  for (Init init : {Init::normal(0.5), Init::truncatedNormal(0.5)}) {
    double square = 0, largest = 0;
    for (float v : draw(init, 0, "p", 20000)) {
      square += double(v) * v;
      largest = std::max(largest, double(std::abs(v)));
    }
    bool isCut = init.kind == Init::Kind::TruncatedNormal;
    EXPECT_NEAR(std::sqrt(square / 20000), isCut ? 0.5 * 0.8796 : 0.5, 0.01); // of N(0, 1) within 2: 0.8796
    EXPECT_EQ(largest <= 1.0, isCut);
  }
}

TEST(Forms, DifferInNormsAndDropout) {
  Graph graph("g");
  Value x = graph.input("x", kFloat, {"N", 4});
  graph.output("y", Dropout(0.5f)(BatchNorm(Scope(graph) / "bn", 4)(x)));
  auto sizes = [&](Form form) {
    std::vector<int> counts;
    dlc::onnx::GraphProto proto = saved(graph, form);
    for (const auto &node : proto.node())
      if (node.op_type() != "Constant" && node.op_type() != "Identity")
        counts.insert(counts.end(), {node.input_size(), node.output_size(), node.attribute_size()});
    return counts;
  };
  EXPECT_EQ(sizes(Form::Training), (std::vector<int>{5, 3, 3, 3, 1, 0}));
  EXPECT_EQ(sizes(Form::Inference), (std::vector<int>{5, 1, 2, 2, 1, 0}));
}

TEST(Graphs, RefuseWhatCannotBeSaved) {
  Graph graph("g"), other("h");
  EXPECT_EQ(errorOf([&] { graph.serialize(); }), "graph 'g' has no output");
  Value x = graph.input("x", kFloat, {"N", 4});
  EXPECT_EQ(errorOf([&] { other.output("y", x); }), "'x' is a value of another graph than 'h'");
  EXPECT_EQ(errorOf([&] { graph.parameter("p", {1 << 20, 1 << 20}, Init::zeros()); }),
            "parameter 'p' cannot have sizes [1048576, 1048576]");
  graph.output("y", x);
  EXPECT_EQ(errorOf([&] { graph.save("/nonexistent/folder/m.onnx"); }),
            "/nonexistent/folder/m.onnx: cannot be written");
}

} // namespace
