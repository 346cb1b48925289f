// Kernels of linalg ops, as machine code, against loops written here: odd and
// empty sizes, any split of the work, every cpu level this machine can run.

#include "test/compiler/cpu/KernelHarness.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dlc::test {

namespace {

using Floats = std::vector<float>;

/// Multiples of 1/8 in [-8, 8), different for every seed.
Floats values(int64_t count, int seed = 1) {
  Floats result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = float((i * 37 + seed * 11 + i / 7) % 128 - 64) / 8;
  return result;
}

class GeneralKernel : public testing::TestWithParam<std::string> {
protected:
  void compile(const std::string &ir) {
    kernel = std::make_unique<CompiledKernel>(cpu::KernelJob{"k", ir, {}}, GetParam());
    ASSERT_EQ(kernel->error, "");
  }

  /// Runs whole, unit by unit and backwards; `output` must come out the same.
  template <typename T>
  void expect(std::vector<void *> inputs, const std::vector<int64_t> &dims,
              const std::vector<T> &expected, double tolerance = 0) {
    for (auto [units, backwards] : {std::pair(0, false), {1, false}, {3, true}}) {
      std::vector<T> output(expected.size() + 64, T(77));
      std::vector<void *> buffers = inputs;
      buffers.push_back(output.data());
      ASSERT_EQ(kernel->run(buffers, dims, units, backwards), kDlcKernelOk);
      for (size_t i = 0; i < expected.size(); ++i) {
        if (std::isnan(double(expected[i])))
          ASSERT_TRUE(std::isnan(double(output[i]))) << "at " << i;
        else if (expected[i] != output[i])
          ASSERT_NEAR(double(output[i]), double(expected[i]), tolerance)
              << "at " << i << " of " << expected.size() << ", units per call " << units;
      }
      for (size_t i = expected.size(); i < output.size(); ++i)
        ASSERT_EQ(output[i], T(77)) << "written past the end";
    }
  }

  std::unique_ptr<CompiledKernel> kernel;
};

constexpr const char *kSoftmax = R"(
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @kernel(%x: tensor<?x?xf32> {dl.dims = affine_map<()[s0, s1] -> (s0, s1)>}, %m: index, %n: index)
    -> (tensor<?x?xf32> {dl.dims = affine_map<()[s0, s1] -> (s0, s1)>}) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %full = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%i : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %b, %a : f32
      linalg.yield %c : f32 } -> tensor<?xf32>
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%full : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.subf %a, %b : f32
      %d = math.exp %c : f32
      linalg.yield %d : f32 } -> tensor<?x?xf32>
  %j = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<?x?xf32>) outs(%j : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %b, %a : f32
      linalg.yield %c : f32 } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%full : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.divf %a, %b : f32
      linalg.yield %c : f32 } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})";

TEST_P(GeneralKernel, Softmax) {
  compile(kSoftmax);
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 17}, {129, 65}, {700, 33}, {0, 5}}) {
    Floats x = values(m * n);
    // A fully masked column per row stays exactly zero.
    for (int64_t row = 0; n > 1 && row < m; ++row)
      x[row * n + row % n] = -std::numeric_limits<float>::infinity();
    Floats expected(m * n);
    for (int64_t row = 0; row < m; ++row) {
      const float *from = &x[row * n];
      float most = *std::max_element(from, from + n);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i)
        sum += std::exp(double(from[i]) - most);
      for (int64_t i = 0; i < n; ++i)
        expected[row * n + i] = std::exp(double(from[i]) - most) / sum;
    }
    expect<float>({x.data()}, {m, n}, expected, 1e-6);
  }
}

// One call over all units must not take memory for each of them.
TEST_P(GeneralKernel, ScratchIsReusedByTheUnitsOfACall) {
  compile(kSoftmax);
  constexpr int64_t kRows = 20000, kColumns = 64;
  Floats x = values(kRows * kColumns), y(kRows * kColumns);
  ASSERT_GT(kernel->work({kRows, kColumns}), 10);
  ASSERT_EQ(kernel->run({x.data(), y.data()}, {kRows, kColumns}), kDlcKernelOk);
  EXPECT_LE(kernel->scratchBytes, 1 << 20);
}

TEST_P(GeneralKernel, ReductionOfTheOuterAxis) {
  compile(R"(
func.func @kernel(%x: tensor<?x65xf32> {dl.dims = affine_map<()[s0] -> (s0, 65)>}, %m: index)
    -> (tensor<1x65xf32> {dl.dims = affine_map<()[s0] -> (1, 65)>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x65xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x65xf32>) -> tensor<1x65xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x65xf32>) outs(%i : tensor<1x65xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %b, %a : f32
      linalg.yield %c : f32 } -> tensor<1x65xf32>
  return %r : tensor<1x65xf32>
})");
  for (int64_t m : {0, 1, 7, 4000}) {
    Floats x = values(m * 65), expected(65, 0);
    for (int64_t i = 0; i < m * 65; ++i)
      expected[i % 65] += x[i]; // exact: multiples of 1/8
    expect<float>({x.data()}, {m}, expected);
  }
}

TEST_P(GeneralKernel, WholeSumToAScalar) {
  compile(R"(
func.func @kernel(%x: tensor<?xf32> {dl.dims = affine_map<()[s0] -> (s0)>}, %m: index)
    -> (tensor<f32> {dl.dims = affine_map<()[s0] -> ()>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%i : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %b, %a : f32
      linalg.yield %c : f32 } -> tensor<f32>
  return %r : tensor<f32>
})");
  for (int64_t m : {0, 1, 15, 16, 17, 100003}) {
    Floats x = values(m);
    expect<float>({x.data()}, {m}, Floats{std::accumulate(x.begin(), x.end(), 0.0f)}, 1e-3);
  }
}

TEST_P(GeneralKernel, MaximumKeepsNaN) {
  compile(R"(
func.func @kernel(%x: tensor<3x?xf32> {dl.dims = affine_map<()[s0] -> (3, s0)>}, %m: index)
    -> (tensor<3xf32> {dl.dims = affine_map<()[s0] -> (3)>}) {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xf32>
  %i = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x?xf32>) outs(%i : tensor<3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %b, %a : f32
      linalg.yield %c : f32 } -> tensor<3xf32>
  return %r : tensor<3xf32>
})");
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (int64_t m : {1, 33, 257}) {
    Floats x = values(3 * m), expected(3);
    x[m + m / 2] = kNaN;
    for (int row = 0; row < 3; ++row)
      expected[row] = row == 1 ? kNaN : *std::max_element(&x[row * m], &x[row * m] + m);
    expect<float>({x.data()}, {m}, expected);
  }
}

TEST_P(GeneralKernel, TransposeWithAnElementwiseProducer) {
  compile(R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
func.func @kernel(%x: tensor<?x?xf32> {dl.dims = affine_map<()[s0, s1] -> (s0, s1)>}, %m: index, %n: index)
    -> (tensor<?x?xf32> {dl.dims = affine_map<()[s0, s1] -> (s1, s0)>}) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %o = tensor.empty(%n, %m) : tensor<?x?xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %two : f32
      linalg.yield %c : f32 } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32 } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})");
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {5, 300}, {301, 257}, {4, 0}}) {
    Floats x = values(m * n), expected(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        expected[j * m + i] = 2 * x[i * n + j];
    expect<float>({x.data()}, {m, n}, expected);
  }
}

TEST_P(GeneralKernel, PadWithAConstant) {
  compile(R"(
func.func @kernel(%x: tensor<?x9xf32> {dl.dims = affine_map<()[s0] -> (s0, 9)>}, %m: index)
    -> (tensor<?x14xf32> {dl.dims = affine_map<()[s0] -> (s0 + 3, 14)>}) {
  %p = arith.constant 0.5 : f32
  %r = tensor.pad %x low[1, 2] high[2, 3] {
    ^bb0(%i: index, %j: index):
      tensor.yield %p : f32 } : tensor<?x9xf32> to tensor<?x14xf32>
  return %r : tensor<?x14xf32>
})");
  for (int64_t m : {1, 8, 300}) {
    Floats x = values(m * 9), expected((m + 3) * 14, 0.5f);
    for (int64_t i = 0; i < m * 9; ++i)
      expected[(i / 9 + 1) * 14 + i % 9 + 2] = x[i];
    expect<float>({x.data()}, {m}, expected);
  }
}

TEST_P(GeneralKernel, GatherReadsThroughIndices) {
  compile(R"(
func.func @kernel(%t: tensor<?x20xf32> {dl.dims = affine_map<()[s0, s1] -> (s0, 20)>},
                  %k: tensor<?xi64> {dl.dims = affine_map<()[s0, s1] -> (s1)>}, %m: index, %n: index)
    -> (tensor<?x20xf32> {dl.dims = affine_map<()[s0, s1] -> (s1, 20)>}) {
  %o = tensor.empty(%n) : tensor<?x20xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<?xi64>) outs(%o : tensor<?x20xf32>) {
    ^bb0(%a: i64, %b: f32):
      %i = arith.index_cast %a : i64 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %t[%i, %j] : tensor<?x20xf32>
      linalg.yield %v : f32 } -> tensor<?x20xf32>
  return %r : tensor<?x20xf32>
})");
  for (int64_t n : {0, 1, 3000}) {
    Floats table = values(50 * 20), expected(n * 20);
    std::vector<int64_t> indices(n);
    for (int64_t i = 0; i < n; ++i) {
      indices[i] = i * 7 % 50;
      std::copy_n(&table[indices[i] * 20], 20, &expected[i * 20]);
    }
    expect<float>({table.data(), indices.data()}, {50, n}, expected);
  }
}

TEST_P(GeneralKernel, SequentialLoopCarriesATensor) {
  compile(R"(
#v = affine_map<(d0) -> (d0)>
func.func @kernel(%x: tensor<?x8xf32> {dl.dims = affine_map<()[s0] -> (s0, 8)>}, %m: index)
    -> (tensor<8xf32> {dl.dims = affine_map<()[s0] -> (8)>}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %t = %c0 to %m step %c1 iter_args(%h = %h0) -> tensor<8xf32> {
    %row = tensor.extract_slice %x[%t, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %n = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
        ins(%row, %h : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %c = arith.mulf %b, %half : f32
        %d = arith.addf %c, %a : f32
        linalg.yield %d : f32 } -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
})");
  for (int64_t m : {0, 1, 2, 9}) {
    Floats x = values(m * 8), expected(8, 0);
    for (int64_t i = 0; i < m * 8; ++i)
      expected[i % 8] = expected[i % 8] * 0.5f + x[i];
    expect<float>({x.data()}, {m}, expected, 1e-6);
  }
}

// The new state reads all of the old one, so the two need separate memory.
TEST_P(GeneralKernel, SequentialLoopNeedsTwoBuffers) {
  compile(R"(
func.func @kernel(%x: tensor<5xf32> {dl.dims = affine_map<()[s0] -> (5)>}, %m: index)
    -> (tensor<5xf32> {dl.dims = affine_map<()[s0] -> (5)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<5xf32>
  %r = scf.for %t = %c0 to %m step %c1 iter_args(%h = %x) -> tensor<5xf32> {
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%e : tensor<5xf32>) {
      ^bb0(%o: f32):
        %i = linalg.index 0 : index
        %j = arith.addi %i, %c1 : index
        %k = arith.remui %j, %c5 : index
        %v = tensor.extract %h[%k] : tensor<5xf32>
        linalg.yield %v : f32 } -> tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  return %r : tensor<5xf32>
})");
  for (int64_t m : {0, 1, 2, 7}) {
    Floats x = values(5), expected(5);
    for (int64_t i = 0; i < 5; ++i)
      expected[i] = x[(i + m) % 5];
    expect<float>({x.data()}, {m}, expected);
  }
}

// Inner loops and branches that store single elements: scatters, top-k.
TEST_P(GeneralKernel, NestedLoopsUpdateElements) {
  compile(R"(
func.func @kernel(%x: tensor<4x4xf32> {dl.dims = affine_map<()[s0] -> (4, 4)>}, %m: index)
    -> (tensor<4x4xf32> {dl.dims = affine_map<()[s0] -> (4, 4)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %u = scf.for %j = %c0 to %c4 step %c1 iter_args(%t = %s) -> tensor<4x4xf32> {
      %v = tensor.extract %t[%i, %j] : tensor<4x4xf32>
      %w = tensor.extract %t[%j, %i] : tensor<4x4xf32>
      %p = arith.cmpf ogt, %v, %zero : f32
      %n = scf.if %p -> tensor<4x4xf32> {
        %a = arith.addf %v, %w : f32
        %b = tensor.insert %a into %t[%i, %j] : tensor<4x4xf32>
        scf.yield %b : tensor<4x4xf32>
      } else {
        scf.yield %t : tensor<4x4xf32>
      }
      scf.yield %n : tensor<4x4xf32>
    }
    scf.yield %u : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
})");
  for (int64_t m : {0, 1, 4}) {
    Floats x = values(16), expected = x;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 4; ++j)
        if (expected[i * 4 + j] > 0)
          expected[i * 4 + j] += expected[j * 4 + i];
    expect<float>({x.data()}, {m}, expected);
  }
}

TEST_P(GeneralKernel, NarrowIntegersSaturate) {
  compile(R"(
#v = affine_map<(d0) -> (d0)>
func.func @kernel(%x: tensor<?xf32> {dl.dims = affine_map<()[s0] -> (s0)>}, %m: index)
    -> (tensor<?xi8> {dl.dims = affine_map<()[s0] -> (s0)>}) {
  %lo = arith.constant -128 : i32
  %hi = arith.constant 127 : i32
  %ten = arith.constant 32.0 : f32
  %e = tensor.empty(%m) : tensor<?xi8>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
    ^bb0(%a: f32, %o: i8):
      %s = arith.mulf %a, %ten : f32
      %n = math.roundeven %s : f32
      %i = arith.fptosi %n : f32 to i32
      %u = arith.minsi %i, %hi : i32
      %d = arith.maxsi %u, %lo : i32
      %t = arith.trunci %d : i32 to i8
      linalg.yield %t : i8 } -> tensor<?xi8>
  return %r : tensor<?xi8>
})");
  for (int64_t m : {1, 15, 70000}) {
    Floats x = values(m);
    std::vector<int8_t> expected(m);
    for (int64_t i = 0; i < m; ++i)
      expected[i] = int8_t(std::clamp(std::nearbyint(x[i] * 32), -128.0f, 127.0f));
    expect<int8_t>({x.data()}, {m}, expected);
  }
}

TEST_P(GeneralKernel, TwoResults) {
  compile(R"(
#v = affine_map<(d0) -> (d0)>
func.func @kernel(%x: tensor<?xi32> {dl.dims = affine_map<()[s0] -> (s0)>}, %m: index)
    -> (tensor<?xi32> {dl.dims = affine_map<()[s0] -> (s0)>}, tensor<?xi64> {dl.dims = affine_map<()[s0] -> (s0)>}) {
  %e = tensor.empty(%m) : tensor<?xi32>
  %f = tensor.empty(%m) : tensor<?xi64>
  %r:2 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e, %f : tensor<?xi32>, tensor<?xi64>) {
    ^bb0(%a: i32, %o: i32, %p: i64):
      %s = arith.addi %a, %a : i32
      %t = arith.extsi %a : i32 to i64
      %u = arith.muli %t, %t : i64
      linalg.yield %s, %u : i32, i64 } -> (tensor<?xi32>, tensor<?xi64>)
  return %r#0, %r#1 : tensor<?xi32>, tensor<?xi64>
})");
  constexpr int64_t kCount = 100001;
  std::vector<int32_t> x(kCount), doubled(kCount);
  std::vector<int64_t> squares(kCount);
  std::iota(x.begin(), x.end(), -50000);
  ASSERT_EQ(kernel->run({x.data(), doubled.data(), squares.data()}, {kCount}, 1, true), 0);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(doubled[i], 2 * x[i]);
    ASSERT_EQ(squares[i], int64_t(x[i]) * x[i]);
  }
}

// The same tensor is an operand twice over and the argument is returned as is.
TEST_P(GeneralKernel, CopyOfAnArgument) {
  compile(R"(
func.func @kernel(%x: tensor<?x3xi16> {dl.dims = affine_map<()[s0] -> (s0, 3)>}, %m: index)
    -> (tensor<?x3xi16> {dl.dims = affine_map<()[s0] -> (s0, 3)>}) {
  return %x : tensor<?x3xi16>
})");
  std::vector<int16_t> x(33);
  std::iota(x.begin(), x.end(), -5);
  expect<int16_t>({x.data()}, {11}, x);
}

TEST_P(GeneralKernel, CompilesToTheSameBytesAgain) {
  cpu::CpuOptions one, two;
  one.cpu = two.cpu = GetParam();
  one.threads = 1;
  two.threads = 2;
  std::vector<cpu::KernelJob> jobs = {{"a", kSoftmax, {}}, {"b", kSoftmax, {}}};
  auto first = cpu::compileKernels(jobs, one), second = cpu::compileKernels(jobs, two);
  ASSERT_TRUE(bool(first) && bool(second));
  EXPECT_TRUE(first->bytes == second->bytes);
}

TEST_P(GeneralKernel, ErrorsNameTheKernel) {
  CompiledKernel broken({"broken_kernel", "func.func @kernel(", {}}, GetParam());
  EXPECT_NE(broken.error.find("broken_kernel"), std::string::npos) << broken.error;
}

INSTANTIATE_TEST_SUITE_P(Cpus, GeneralKernel, testing::ValuesIn(runnableCpus()),
                         [](const auto &info) { return testNameOf(info.param); });

TEST(CpuNames, AnUnknownOneIsRefusedByName) {
  auto cpu = cpu::resolveCpu("pentium-99");
  ASSERT_FALSE(bool(cpu));
  EXPECT_NE(llvm::toString(cpu.takeError()).find("pentium-99"), std::string::npos);
}

} // namespace

} // namespace dlc::test
