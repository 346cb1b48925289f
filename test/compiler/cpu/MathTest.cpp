// Elementary functions as kernels compute them, against libm in double: a dense
// sweep of f32 bit patterns with both infinities, NaN, zeros and denormals.

#include "test/compiler/cpu/KernelHarness.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>

namespace dlc::test {

namespace {

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// Every 4099th bit pattern and the patterns around the special values.
std::vector<float> sweep() {
  std::vector<float> result;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4099)
    result.push_back(bitCast<float>(uint32_t(bits)));
  for (uint32_t special : {0u, 1u, 0x007fffffu, 0x00800000u, 0x3f800000u, 0x7f7fffffu,
                           0x7f800000u, 0x7fc00000u, 0x42b17218u, 0x42b20000u, 0xc2aeac50u,
                           0xc2cff1b5u, 0xc2d20000u})
    for (uint32_t sign : {0u, 0x80000000u})
      for (int step : {-1, 0, 1})
        result.push_back(bitCast<float>((special + step) ^ sign));
  return result;
}

/// The distance in units of the last place of `expected` rounded to f32.
double ulps(float actual, double expected) {
  float rounded = float(expected);
  if (std::isnan(rounded) || std::isnan(actual))
    return std::isnan(rounded) == std::isnan(actual) ? 0 : 1e9;
  if (rounded == actual)
    return 0;
  if (std::isinf(rounded) || std::isinf(actual))
    return 1e9;
  float next = std::nextafter(std::fabs(rounded), INFINITY);
  double unit = std::isinf(next) ? double(std::fabs(rounded)) -
                                       std::nextafter(std::fabs(rounded), 0.0f)
                                 : double(next) - std::fabs(rounded);
  return std::fabs(double(actual) - expected) / unit;
}

std::string unaryIr(const std::string &body, const std::string &in, const std::string &out) {
  return "#v = affine_map<(d0) -> (d0)>\n"
         "func.func @kernel(%x: tensor<?x" + in + "> {dl.dims = affine_map<()[s0] -> (s0)>}, %m: index) -> "
         "(tensor<?x" + out + "> {dl.dims = affine_map<()[s0] -> (s0)>}) {\n"
         "  %e = tensor.empty(%m) : tensor<?x" + out + ">\n"
         "  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = [\"parallel\"]}\n"
         "      ins(%x : tensor<?x" + in + ">) outs(%e : tensor<?x" + out + ">) {\n"
         "    ^bb0(%a: " + in + ", %o: " + out + "):\n" + body +
         "      linalg.yield %y : " + out + " } -> tensor<?x" + out + ">\n"
         "  return %r : tensor<?x" + out + ">\n}\n";
}

class MathKernel : public testing::TestWithParam<std::string> {
protected:
  template <typename In, typename Out>
  std::vector<Out> run(const std::string &ir, std::vector<In> x) {
    CompiledKernel kernel({"k", ir, {}}, GetParam());
    EXPECT_EQ(kernel.error, "");
    std::vector<Out> y(x.size());
    if (kernel.error.empty())
      EXPECT_EQ(kernel.run({x.data(), y.data()}, {int64_t(x.size())}, 3), 0);
    return y;
  }

  void expectFunction(const std::string &op, double (*reference)(double), double maxUlps) {
    std::vector<float> x = sweep();
    auto y = run<float, float>(unaryIr("      %y = " + op + " %a : f32\n", "f32", "f32"), x);
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (double error = ulps(y[i], reference(double(x[i]))); error > worst)
        worst = error, at = i;
    EXPECT_LE(worst, maxUlps) << op << "(" << x[at] << ") = " << y[at] << ", expected "
                              << reference(x[at]);
  }
};

TEST_P(MathKernel, Exp) { expectFunction("math.exp", std::exp, 2); }
TEST_P(MathKernel, Tanh) { expectFunction("math.tanh", std::tanh, 8); }
TEST_P(MathKernel, Erf) { expectFunction("math.erf", std::erf, 8); }
TEST_P(MathKernel, Log) { expectFunction("math.log", std::log, 4); }
TEST_P(MathKernel, Log1p) { expectFunction("math.log1p", std::log1p, 4); }
TEST_P(MathKernel, Sqrt) { expectFunction("math.sqrt", std::sqrt, 0.5001); }
TEST_P(MathKernel, Sin) { expectFunction("math.sin", std::sin, 2); }
TEST_P(MathKernel, Atan) { expectFunction("math.atan", std::atan, 4); }
TEST_P(MathKernel, Asinh) { expectFunction("math.asinh", std::asinh, 4); }
TEST_P(MathKernel, RoundEven) { expectFunction("math.roundeven", std::nearbyint, 0); }
TEST_P(MathKernel, Floor) { expectFunction("math.floor", std::floor, 0); }

TEST_P(MathKernel, DoublePrecisionComesFromLibm) {
  std::vector<double> x = {-INFINITY, -700.5, -1.0, -0.0, 0.0, 1e-300, 0.3, 20.0, 710.0, NAN};
  for (auto [op, reference] : {std::pair<const char *, double (*)(double)>{"math.exp", std::exp},
                               {"math.tanh", std::tanh}, {"math.erf", std::erf}, {"math.cosh", std::cosh}}) {
    auto y = run<double, double>(unaryIr(std::string("      %y = ") + op + " %a : f64\n", "f64", "f64"), x);
    for (size_t i = 0; i < x.size(); ++i) {
      double expected = reference(x[i]);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(y[i]));
      else if (y[i] != expected)
        EXPECT_NEAR(y[i], expected, 1e-15 * std::fabs(expected)) << op << " " << x[i];
    }
  }
}

TEST_P(MathKernel, EveryHalfWidens) {
  std::vector<uint16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint16_t(i);
  auto y = run<uint16_t, float>(unaryIr("      %y = arith.extf %a : f16 to f32\n", "f16", "f32"), x);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(ulps(y[i], double(bitCast<_Float16>(x[i]))), 0) << "pattern " << i;
}

TEST_P(MathKernel, FloatsRoundToHalf) {
  std::vector<float> x = sweep();
  auto y = run<float, uint16_t>(unaryIr("      %y = arith.truncf %a : f32 to f16\n", "f32", "f16"), x);
  for (size_t i = 0; i < x.size(); ++i) {
    _Float16 expected = _Float16(x[i]), actual = bitCast<_Float16>(y[i]);
    if (std::isnan(x[i]))
      ASSERT_TRUE(actual != actual);
    else
      ASSERT_EQ(y[i], bitCast<uint16_t>(expected)) << x[i];
  }
}

TEST_P(MathKernel, EveryBrainFloatWidens) {
  std::vector<uint16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint16_t(i);
  auto y = run<uint16_t, float>(unaryIr("      %y = arith.extf %a : bf16 to f32\n", "bf16", "f32"), x);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(ulps(y[i], double(bitCast<float>(uint32_t(i) << 16))), 0) << "pattern " << i;
}

TEST_P(MathKernel, FloatsRoundToBrainFloat) {
  std::vector<float> x = sweep();
  auto y = run<float, uint16_t>(unaryIr("      %y = arith.truncf %a : f32 to bf16\n", "f32", "bf16"), x);
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t bits = bitCast<uint32_t>(x[i]);
    if (std::isnan(x[i]))
      ASSERT_TRUE((y[i] & 0x7f80) == 0x7f80 && (y[i] & 0x7f)) << i;
    else
      ASSERT_EQ(y[i], uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)) << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, MathKernel, testing::ValuesIn(runnableCpus()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             c = c == '-' ? '_' : c;
                           return name;
                         });

} // namespace

} // namespace dlc::test
