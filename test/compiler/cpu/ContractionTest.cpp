// Register-tiled contractions against plain loops: sizes around every tile
// edge, padding, strides, dilations, groups, dynamic batches, epilogues.

#include "test/compiler/cpu/KernelHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace dlc::test {

namespace {

using cpu::ContractionKernel;
using cpu::EpilogueOperand;
using namespace mlir;

/// A convolution with static sizes but for the batch, which is dims[0].
struct Geometry {
  int64_t batch = 1, height = 1, width = 1, channels = 1, outChannels = 1, groups = 1;
  int64_t kernelHeight = 1, kernelWidth = 1, stride = 1, dilation = 1, padBefore = 0, padAfter = 0;
  bool isDepthwise = false, hasEpilogue = false;

  int64_t out(int64_t size, int64_t taps) const {
    return (size + padBefore + padAfter - dilation * (taps - 1) - 1) / stride + 1;
  }
  int64_t outHeight() const { return out(height, kernelHeight); }
  int64_t outWidth() const { return out(width, kernelWidth); }
  int64_t allIn() const { return isDepthwise ? channels : channels * groups; }
  int64_t allOut() const { return isDepthwise ? channels : outChannels * groups; }
};

std::ostream &operator<<(std::ostream &os, const Geometry &g) {
  return os << g.batch << "x" << g.height << "x" << g.width << " channels " << g.channels << "->"
            << g.outChannels << " groups " << g.groups << " kernel " << g.kernelHeight << "x"
            << g.kernelWidth << " stride " << g.stride << " dilation " << g.dilation << " pads "
            << g.padBefore << "," << g.padAfter << (g.isDepthwise ? " depthwise" : "");
}

/// max(accumulator + bias[channel], residual[element])
func::FuncOp makeTestEpilogue(OpBuilder &b) {
  return makeEpilogue(b, [&](Location loc, ValueRange x) -> Value {
    Value sum = arith::AddFOp::create(b, loc, x[0], x[1]);
    return arith::MaximumFOp::create(b, loc, sum, x[2]);
  });
}

void emit(OpBuilder &b, const cpu::CpuInfo &cpu, const Geometry &g) {
  ContractionKernel k;
  auto size = [&](int64_t value) { return b.getAffineConstantExpr(value); };
  k.name = "k";
  k.batch = b.getAffineSymbolExpr(0);
  k.inHeight = size(g.height);
  k.inWidth = size(g.width);
  k.outHeight = size(g.outHeight());
  k.outWidth = size(g.outWidth());
  k.channels = g.channels;
  k.outChannels = g.isDepthwise ? g.channels : g.outChannels;
  k.groups = g.groups;
  k.kernelHeight = g.kernelHeight;
  k.kernelWidth = g.kernelWidth;
  k.strideHeight = k.strideWidth = g.stride;
  k.dilationHeight = k.dilationWidth = g.dilation;
  k.padTop = k.padLeft = g.padBefore;
  k.isDepthwise = g.isDepthwise;
  k.numDims = 1;
  OwningOpRef<func::FuncOp> epilogue;
  if (g.hasEpilogue) {
    k.numBuffers = 5;
    k.outputBuffer = 4;
    k.epilogueOperands = {{EpilogueOperand::Channel, 2}, {EpilogueOperand::Element, 3}};
    epilogue = makeTestEpilogue(b);
    k.epilogue = *epilogue;
  }
  cpu::emitContraction(b, k, cpu.isa);
}

/// Small integers: sums are exact in any order.
std::vector<float> integers(int64_t count, int seed) {
  std::vector<float> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = float((i * 31 + i / 5 * seed + seed) % 9 - 4);
  return result;
}

struct Reference {
  Reference(const Geometry &g)
      : g(g), input(integers(g.batch * g.height * g.width * g.allIn(), 3)),
        filter(integers(g.allOut() * taps() * (g.isDepthwise ? 1 : g.channels), 7)),
        bias(integers(g.allOut(), 5)), residual(integers(outputSize(), 2)), output(outputSize()) {
    compute();
  }

  int64_t taps() const { return g.kernelHeight * g.kernelWidth; }
  int64_t outputSize() const { return g.batch * g.outHeight() * g.outWidth() * g.allOut(); }

  /// filter[o][tap][c], the order this file thinks in.
  float weight(int64_t o, int64_t tap, int64_t c) const {
    return filter[(o * taps() + tap) * (g.isDepthwise ? 1 : g.channels) + c];
  }

  float at(int64_t n, int64_t y, int64_t x, int64_t o) const {
    int64_t group = g.isDepthwise ? o : o / g.outChannels;
    int64_t channels = g.isDepthwise ? 1 : g.channels;
    float sum = 0;
    for (int64_t tap = 0; tap < taps(); ++tap) {
      int64_t iy = y * g.stride + tap / g.kernelWidth * g.dilation - g.padBefore;
      int64_t ix = x * g.stride + tap % g.kernelWidth * g.dilation - g.padBefore;
      if (iy < 0 || iy >= g.height || ix < 0 || ix >= g.width)
        continue;
      const float *pixel = &input[((n * g.height + iy) * g.width + ix) * g.allIn() + group * channels];
      for (int64_t c = 0; c < channels; ++c)
        sum += pixel[c] * weight(o, tap, c);
    }
    return sum;
  }

  void compute() {
    int64_t i = 0;
    for (int64_t n = 0; n < g.batch; ++n)
      for (int64_t y = 0; y < g.outHeight(); ++y)
        for (int64_t x = 0; x < g.outWidth(); ++x)
          for (int64_t o = 0; o < g.allOut(); ++o, ++i) {
            output[i] = at(n, y, x, o);
            if (g.hasEpilogue)
              output[i] = std::max(output[i] + bias[o], residual[i]);
          }
  }

  /// [groups * blocks][taps][C][columns], or [taps][C] for depthwise.
  std::vector<float> packed(const cpu::VectorIsa &isa) const {
    if (g.isDepthwise) {
      std::vector<float> result(taps() * g.channels);
      for (int64_t i = 0; i < taps() * g.channels; ++i)
        result[i] = weight(i % g.channels, i / g.channels, 0);
      return result;
    }
    int64_t columns = cpu::blockColumns(isa, g.outChannels);
    int64_t blocks = (g.outChannels + columns - 1) / columns;
    std::vector<float> result(g.groups * blocks * taps() * g.channels * columns, 0);
    for (int64_t o = 0; o < g.allOut(); ++o) {
      int64_t block = o / g.outChannels * blocks + o % g.outChannels / columns;
      int64_t lane = o % g.outChannels % columns;
      for (int64_t tap = 0; tap < taps(); ++tap)
        for (int64_t c = 0; c < g.channels; ++c)
          result[((block * taps() + tap) * g.channels + c) * columns + lane] = weight(o, tap, c);
    }
    return result;
  }

  const Geometry &g;
  std::vector<float> input, filter, bias, residual, output;
};

class ContractionKernels : public testing::TestWithParam<std::string> {
protected:
  void check(const Geometry &g) {
    SCOPED_TRACE(testing::PrintToString(g));
    CompiledKernel kernel({"k", "", [&](OpBuilder &b, const cpu::CpuInfo &cpu) { emit(b, cpu, g); }},
                          GetParam());
    ASSERT_EQ(kernel.error, "");
    Reference reference(g);
    auto packed = reference.packed(cantFail(cpu::resolveCpu(GetParam())).isa);
    for (auto [units, backwards] : {std::pair(0, false), {1, true}}) {
      std::vector<float> output(reference.outputSize() + 64, 77);
      std::vector<void *> buffers = {reference.input.data(), packed.data()};
      if (g.hasEpilogue)
        buffers.insert(buffers.end(), {reference.bias.data(), reference.residual.data()});
      buffers.push_back(output.data());
      ASSERT_EQ(kernel.run(buffers, {g.batch}, units, backwards), 0);
      for (size_t i = 0; i < output.size(); ++i)
        ASSERT_EQ(output[i], i < reference.output.size() ? reference.output[i] : 77)
            << "at " << i << ", units per call " << units;
    }
  }
};

// Rows around the tile heights (6, 8, 14), columns around one and two vectors.
TEST_P(ContractionKernels, MatrixProductsAroundTileEdges) {
  for (int64_t rows : {1, 5, 6, 7, 13, 14, 15, 113})
    for (int64_t columns : {1, 7, 8, 15, 16, 17, 31, 32, 33, 70})
      check({.batch = rows, .channels = 1 + columns % 19, .outChannels = columns,
             .hasEpilogue = rows % 2 == 1});
}

// Sums in parts, and rows that are copied because they collide in the cache.
TEST_P(ContractionKernels, ManyChannels) {
  for (int64_t channels : {1024, 1025, 1100, 2048, 3072})
    for (int64_t columns : {20, 32, 70, 300})
      check({.batch = 40, .channels = channels, .outChannels = columns,
             .hasEpilogue = columns != 32});
  check({.batch = 30, .channels = 1024, .outChannels = 33, .groups = 2, .hasEpilogue = true});
}

TEST_P(ContractionKernels, NoRows) { check({.batch = 0, .channels = 3, .outChannels = 20}); }

TEST_P(ContractionKernels, Convolutions) {
  Geometry base{.batch = 2, .height = 9, .width = 11, .channels = 5, .outChannels = 33,
                .kernelHeight = 3, .kernelWidth = 3, .padBefore = 1, .padAfter = 1};
  for (bool hasEpilogue : {false, true}) {
    Geometry g = base;
    g.hasEpilogue = hasEpilogue;
    check(g);
    g.stride = 2;
    check(g);
    g.dilation = 2;
    check(g);
    g.groups = 3;
    check(g);
  }
  Geometry uneven = base;
  uneven.padBefore = 0;
  uneven.padAfter = 2;
  check(uneven);
  Geometry tall = base;
  tall.kernelWidth = 1;
  tall.kernelHeight = 5;
  tall.padBefore = tall.padAfter = 2;
  check(tall);
}

// Larger than the image: every row of the window has padding on both sides.
TEST_P(ContractionKernels, KernelLargerThanTheImage) {
  check({.batch = 3, .height = 2, .width = 2, .channels = 4, .outChannels = 8,
         .kernelHeight = 5, .kernelWidth = 5, .padBefore = 2, .padAfter = 2});
  check({.batch = 1, .height = 1, .width = 1, .channels = 4, .outChannels = 40,
         .kernelHeight = 7, .kernelWidth = 7, .padBefore = 3, .padAfter = 3});
}

TEST_P(ContractionKernels, StridedPointwise) {
  check({.batch = 1, .height = 14, .width = 15, .channels = 16, .outChannels = 48, .stride = 2});
}

TEST_P(ContractionKernels, Depthwise) {
  for (int64_t channels : {1, 15, 16, 17, 32, 127, 129, 300})
    for (int64_t stride : {1, 2})
      check({.batch = 2, .height = 7, .width = 10, .channels = channels, .kernelHeight = 3,
             .kernelWidth = 3, .stride = stride, .dilation = 3 - stride, .padBefore = 1,
             .padAfter = 1, .isDepthwise = true, .hasEpilogue = stride == 1});
  check({.batch = 1, .height = 3, .width = 2, .channels = 20, .kernelHeight = 5, .kernelWidth = 5,
         .padBefore = 2, .padAfter = 2, .isDepthwise = true});
}

INSTANTIATE_TEST_SUITE_P(Cpus, ContractionKernels, testing::ValuesIn(runnableCpus()),
                         [](const auto &info) { return testNameOf(info.param); });

} // namespace

} // namespace dlc::test
