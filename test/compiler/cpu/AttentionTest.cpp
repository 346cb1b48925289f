// Attention kernels against plain loops in double: sizes around tiles and
// blocks, shared heads, masks, causal, rows without any key.

#include "test/compiler/cpu/KernelHarness.h"

#include "compiler/targets/cpu/contraction/Attention.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

namespace dlc::test {

namespace {

using namespace mlir;
using cpu::AttentionKernel;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Attention {
  int64_t batch = 1, heads = 1, headsPerKey = 1, rows = 1, keys = 1, headSize = 1, valueSize = 1;
  double softcap = 0, maskedValue = -kInfinity;
  bool hasMask = false, hasBias = false, isCausal = false, zeroesEmptyRows = false;
  bool isDynamic = false;
  int64_t maskedRow = -1; // has no key at all

  int64_t keyHeads() const { return heads / headsPerKey; }
};

std::ostream &operator<<(std::ostream &os, const Attention &a) {
  return os << a.batch << "x" << a.heads << "/" << a.headsPerKey << " of " << a.rows << "x" << a.keys
            << " sizes " << a.headSize << "," << a.valueSize << (a.hasMask ? " mask" : "")
            << (a.hasBias ? " bias" : "") << (a.isCausal ? " causal" : "")
            << (a.zeroesEmptyRows ? " zero" : "") << (a.isDynamic ? " dynamic" : "") << " cap "
            << a.softcap << " fill " << a.maskedValue;
}

/// The mask is [batch, 1, rows, keys], the bias [heads, 1, keys].
void emit(OpBuilder &b, const cpu::CpuInfo &cpu, const Attention &a) {
  AttentionKernel k;
  int64_t next = 0;
  auto size = [&](int64_t value) -> AffineExpr {
    return a.isDynamic ? b.getAffineSymbolExpr(next++) : b.getAffineConstantExpr(value);
  };
  AffineExpr zero = b.getAffineConstantExpr(0), one = b.getAffineConstantExpr(1);
  k.name = "k";
  k.batch = size(a.batch);
  k.heads = size(a.heads);
  k.rows = size(a.rows);
  k.keys = size(a.keys);
  k.numDims = next;
  k.headsPerKey = a.headsPerKey;
  k.headSize = a.headSize;
  k.valueSize = a.valueSize;
  auto matrix = [&](unsigned buffer, AffineExpr heads, AffineExpr length, int64_t width) {
    return cpu::MatrixAccess{buffer, {heads * length * width, length * width},
                             b.getAffineConstantExpr(width), one};
  };
  AffineExpr shared = k.heads.floorDiv(a.headsPerKey);
  k.query = matrix(0, k.heads, k.rows, a.headSize);
  k.key = matrix(1, shared, k.keys, a.headSize);
  k.value = matrix(2, shared, k.keys, a.valueSize);
  k.mask = cpu::MatrixAccess{3, {k.rows * k.keys, zero}, k.keys, one};
  k.bias = cpu::MatrixAccess{4, {zero, k.keys}, zero, one};
  if (!a.hasMask)
    k.mask.reset();
  if (!a.hasBias)
    k.bias.reset();
  k.scale = 0.25;
  k.softcap = a.softcap;
  k.maskedValue = a.maskedValue;
  k.isCausal = a.isCausal;
  k.zeroesEmptyRows = a.zeroesEmptyRows;
  k.numBuffers = 6;
  k.outputBuffer = 5;
  cpu::emitAttention(b, k, cpu.isa);
}

std::vector<float> numbers(int64_t count, int seed) {
  std::vector<float> result(count);
  uint32_t state = 12345u + seed;
  for (float &x : result) {
    state = state * 1664525u + 1013904223u;
    x = float(state >> 8) / float(1 << 23) - 1;
  }
  return result;
}

struct Reference {
  explicit Reference(const Attention &a)
      : a(a), query(numbers(a.batch * a.heads * a.rows * a.headSize, 1)),
        key(numbers(a.batch * a.keyHeads() * a.keys * a.headSize, 2)),
        value(numbers(a.batch * a.keyHeads() * a.keys * a.valueSize, 3)),
        mask(a.batch * a.rows * a.keys), bias(numbers(a.heads * a.keys, 4)) {
    for (size_t i = 0; i < mask.size(); ++i)
      mask[i] = (i * 7 + i / 3) % 5 != 0 && int64_t(i) / a.keys % a.rows != a.maskedRow;
    for (int64_t n = 0; n < a.batch * a.heads; ++n)
      for (int64_t row = 0; row < a.rows; ++row)
        addRow(n / a.heads, n % a.heads, row);
  }

  void addRow(int64_t n, int64_t head, int64_t row) {
    int64_t keyBase = (n * a.keyHeads() + head / a.headsPerKey) * a.keys;
    std::vector<double> x(a.keys);
    double most = -kInfinity, total = 0;
    for (int64_t t = 0; t < a.keys; ++t) {
      for (int64_t d = 0; d < a.headSize; ++d)
        x[t] += double(query[((n * a.heads + head) * a.rows + row) * a.headSize + d]) *
                key[(keyBase + t) * a.headSize + d];
      x[t] *= 0.25;
      if (a.softcap > 0)
        x[t] = a.softcap * std::tanh(x[t] / a.softcap);
      if (a.hasBias)
        x[t] += bias[head * a.keys + t];
      if (a.hasMask && !mask[(n * a.rows + row) * a.keys + t])
        x[t] = a.maskedValue;
      if (a.isCausal && t > row)
        x[t] = -kInfinity;
      most = std::max(most, x[t]);
    }
    for (double &weight : x)
      total += weight = std::exp(weight - most);
    for (int64_t e = 0; e < a.valueSize; ++e) {
      double sum = 0;
      for (int64_t t = 0; t < a.keys; ++t)
        sum += x[t] / total * value[(keyBase + t) * a.valueSize + e];
      output.push_back(a.zeroesEmptyRows && most == -kInfinity ? 0 : float(sum));
    }
  }

  const Attention &a;
  std::vector<float> query, key, value;
  std::vector<uint8_t> mask;
  std::vector<float> bias, output;
};

class AttentionKernels : public testing::TestWithParam<std::string> {
protected:
  void check(const Attention &a) {
    SCOPED_TRACE(testing::PrintToString(a));
    CompiledKernel kernel({"k", "", [&](OpBuilder &b, const cpu::CpuInfo &cpu) { emit(b, cpu, a); }},
                          GetParam());
    ASSERT_EQ(kernel.error, "");
    Reference reference(a);
    std::vector<int64_t> dims = {a.batch, a.heads, a.rows, a.keys};
    std::vector<float> once;
    for (auto [units, backwards] : {std::pair(0, false), {1, true}}) {
      std::vector<float> output(reference.output.size() + 64, 77);
      std::vector<void *> buffers = {reference.query.data(), reference.key.data(),
                                     reference.value.data(), reference.mask.data(),
                                     reference.bias.data(), output.data()};
      ASSERT_EQ(kernel.run(buffers, dims, units, backwards), 0);
      for (size_t i = 0; i < output.size(); ++i) {
        if (i >= reference.output.size())
          ASSERT_EQ(output[i], 77) << "past the end";
        else if (std::isnan(reference.output[i]))
          ASSERT_TRUE(std::isnan(output[i])) << "at " << i;
        else
          ASSERT_NEAR(output[i], reference.output[i], 1e-5) << "at " << i;
      }
      // The units do not depend on who runs them: the same bits.
      if (once.empty())
        once = output;
      else
        ASSERT_EQ(memcmp(once.data(), output.data(), output.size() * 4), 0);
    }
  }
};

TEST_P(AttentionKernels, AroundTilesAndBlocks) {
  for (bool isDynamic : {false, true})
    for (int64_t rows : {1, 13, 30})
      for (int64_t keys : {1, 31, 33, 300})
        check({.heads = 2, .rows = rows, .keys = keys, .headSize = 20, .valueSize = 37,
               .hasBias = keys == 33, .isDynamic = isDynamic});
}

TEST_P(AttentionKernels, SharedHeads) {
  for (bool isDynamic : {false, true})
    check({.batch = 2, .heads = 6, .headsPerKey = 3, .rows = 20, .keys = 40, .headSize = 16,
           .valueSize = 16, .hasMask = true, .hasBias = true, .isDynamic = isDynamic});
}

TEST_P(AttentionKernels, ManyRowsAndKeys) {
  check({.rows = 290, .keys = 700, .headSize = 64, .valueSize = 64, .hasMask = true});
  check({.rows = 150, .keys = 128, .headSize = 64, .valueSize = 64, .hasBias = true, .isDynamic = true});
}

TEST_P(AttentionKernels, Causal) {
  for (bool isDynamic : {false, true})
    for (int64_t keys : {300, 600})
      check({.heads = 2, .rows = 300, .keys = keys, .headSize = 64, .valueSize = 32,
             .isCausal = true, .isDynamic = isDynamic});
}

// A masked row has a uniform weight with a finite fill, else none.
TEST_P(AttentionKernels, MaskedRows) {
  Attention base{.rows = 16, .keys = 50, .headSize = 8, .valueSize = 16, .hasMask = true, .maskedRow = 3};
  check(base);
  base.zeroesEmptyRows = true;
  check(base);
  base.keys = 400;
  check(base);
  base.zeroesEmptyRows = false;
  base.maskedValue = -1e9;
  check(base);
}

TEST_P(AttentionKernels, Softcap) {
  check({.rows = 16, .keys = 50, .headSize = 64, .valueSize = 16, .softcap = 0.5, .hasBias = true});
}

TEST_P(AttentionKernels, Empty) {
  for (bool isDynamic : {false, true}) {
    check({.batch = 0, .rows = 3, .keys = 4, .isDynamic = isDynamic});
    check({.rows = 0, .keys = 4, .isDynamic = isDynamic});
    check({.rows = 3, .keys = 0, .isDynamic = isDynamic});
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, AttentionKernels, testing::ValuesIn(runnableCpus()),
                         [](const auto &info) { return testNameOf(info.param); });

} // namespace

} // namespace dlc::test
