// Products of computed matrices against plain loops: sizes around tile and
// panel edges, transposed sides, broadcast batches, static and dynamic sizes.

#include "test/compiler/cpu/KernelHarness.h"

#include "compiler/targets/cpu/contraction/MatMul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace dlc::test {

namespace {

using namespace mlir;
using cpu::MatMulKernel;
using cpu::MatrixAccess;

/// lhs is [outer, 1, m, k], rhs [1, heads, k, n], the result [outer, heads, m, n].
struct Product {
  int64_t rows = 1, columns = 1, inner = 1, outer = 1, heads = 1;
  bool transposeLhs = false, transposeRhs = false, hasEpilogue = false, isDynamic = false;
};

std::ostream &operator<<(std::ostream &os, const Product &p) {
  return os << p.outer << "x" << p.heads << " of " << p.rows << "x" << p.inner << "x" << p.columns
            << (p.transposeLhs ? " lhs transposed" : "") << (p.transposeRhs ? " rhs transposed" : "")
            << (p.hasEpilogue ? " epilogue" : "") << (p.isDynamic ? " dynamic" : "");
}

/// max(accumulator, row operand) + column operand
func::FuncOp makeTestEpilogue(OpBuilder &b) {
  return makeEpilogue(b, [&](Location loc, ValueRange x) -> Value {
    Value most = arith::MaximumFOp::create(b, loc, x[0], x[1]);
    return arith::AddFOp::create(b, loc, most, x[2]);
  });
}

void emit(OpBuilder &b, const cpu::CpuInfo &cpu, const Product &p) {
  MatMulKernel k;
  int64_t next = 0;
  auto size = [&](int64_t value) -> AffineExpr {
    return p.isDynamic ? b.getAffineSymbolExpr(next++) : b.getAffineConstantExpr(value);
  };
  AffineExpr zero = b.getAffineConstantExpr(0), one = b.getAffineConstantExpr(1);
  k.name = "k";
  k.rows = size(p.rows);
  k.columns = size(p.columns);
  k.inner = size(p.inner);
  k.batch = {size(p.outer), size(p.heads)};
  k.lhs = {0, {k.rows * k.inner, zero}, k.inner, one};
  k.rhs = {1, {zero, k.columns * k.inner}, k.columns, one};
  if (p.transposeLhs)
    k.lhs = {0, k.lhs.batchStrides, one, k.rows};
  if (p.transposeRhs)
    k.rhs = {1, k.rhs.batchStrides, one, k.inner};
  k.numDims = next;
  OwningOpRef<func::FuncOp> epilogue;
  if (p.hasEpilogue) {
    k.numBuffers = 5;
    k.outputBuffer = 4;
    k.epilogueOperands = {{2, {zero, k.rows}, one, zero}, {3, {k.columns, zero}, zero, one}};
    epilogue = makeTestEpilogue(b);
    k.epilogue = *epilogue;
  }
  cpu::emitMatMul(b, k, cpu.isa);
}

/// Small integers: sums are exact in any order.
std::vector<float> integers(int64_t count, int seed) {
  std::vector<float> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = float((i * 31 + i / 5 * seed + seed) % 9 - 4);
  return result;
}

class MatMulKernels : public testing::TestWithParam<std::string> {
protected:
  void check(const Product &p) {
    SCOPED_TRACE(testing::PrintToString(p));
    CompiledKernel kernel({"k", "", [&](OpBuilder &b, const cpu::CpuInfo &cpu) { emit(b, cpu, p); }},
                          GetParam());
    ASSERT_EQ(kernel.error, "");
    auto lhs = integers(p.outer * p.rows * p.inner, 3), rhs = integers(p.heads * p.inner * p.columns, 7);
    auto byRow = integers(p.heads * p.rows, 5), byColumn = integers(p.outer * p.columns, 2);
    std::vector<float> expected;
    for (int64_t o = 0; o < p.outer; ++o)
      for (int64_t h = 0; h < p.heads; ++h)
        for (int64_t m = 0; m < p.rows; ++m)
          for (int64_t n = 0; n < p.columns; ++n) {
            float sum = 0;
            for (int64_t k = 0; k < p.inner; ++k) {
              int64_t left = p.transposeLhs ? k * p.rows + m : m * p.inner + k;
              int64_t right = p.transposeRhs ? n * p.inner + k : k * p.columns + n;
              sum += lhs[o * p.rows * p.inner + left] * rhs[h * p.inner * p.columns + right];
            }
            if (p.hasEpilogue)
              sum = std::max(sum, byRow[h * p.rows + m]) + byColumn[o * p.columns + n];
            expected.push_back(sum);
          }
    std::vector<int64_t> dims = {p.rows, p.columns, p.inner, p.outer, p.heads};
    for (auto [units, backwards] : {std::pair(0, false), {1, true}}) {
      std::vector<float> output(expected.size() + 64, 77);
      std::vector<void *> buffers = {lhs.data(), rhs.data()};
      if (p.hasEpilogue)
        buffers.insert(buffers.end(), {byRow.data(), byColumn.data()});
      buffers.push_back(output.data());
      ASSERT_EQ(kernel.run(buffers, dims, units, backwards), 0);
      for (size_t i = 0; i < output.size(); ++i)
        ASSERT_EQ(output[i], i < expected.size() ? expected[i] : 77)
            << "at " << i << ", units per call " << units;
    }
  }
};

TEST_P(MatMulKernels, AroundTileEdges) {
  for (int64_t rows : {1, 6, 13, 15, 31})
    for (int64_t columns : {1, 8, 16, 17, 33, 64})
      check({.rows = rows, .columns = columns, .inner = 1 + (rows * columns) % 37,
             .transposeLhs = columns % 3 == 0, .transposeRhs = rows % 2 == 1,
             .hasEpilogue = columns % 2 == 1});
}

TEST_P(MatMulKernels, Transposed) {
  for (bool transposeLhs : {false, true})
    for (bool transposeRhs : {false, true})
      for (bool isDynamic : {false, true})
        check({.rows = 29, .columns = 45, .inner = 21, .outer = 2, .heads = 3,
               .transposeLhs = transposeLhs, .transposeRhs = transposeRhs, .hasEpilogue = true,
               .isDynamic = isDynamic});
}

// More terms than one panel holds: sums continue from the output.
TEST_P(MatMulKernels, SeveralPanels) {
  for (int64_t inner : {511, 512, 513, 1024, 1025, 1600})
    for (bool isDynamic : {false, true})
      check({.rows = 16, .columns = 35, .inner = inner, .outer = 2, .transposeRhs = inner % 2 == 1,
             .hasEpilogue = inner != 513, .isDynamic = isDynamic});
}

// Many rows and many batches: units of several tiles and of several batches.
TEST_P(MatMulKernels, Units) {
  for (bool isDynamic : {false, true}) {
    check({.rows = 600, .columns = 70, .inner = 64, .hasEpilogue = true, .isDynamic = isDynamic});
    check({.rows = 5, .columns = 9, .inner = 4, .outer = 30, .heads = 40, .hasEpilogue = true,
           .isDynamic = isDynamic});
  }
}

TEST_P(MatMulKernels, Empty) {
  for (bool isDynamic : {false, true}) {
    check({.rows = 5, .columns = 9, .inner = 0, .hasEpilogue = true, .isDynamic = isDynamic});
    check({.rows = 0, .columns = 9, .inner = 4, .isDynamic = isDynamic});
    check({.rows = 5, .columns = 0, .inner = 4, .isDynamic = isDynamic});
    check({.rows = 5, .columns = 3, .inner = 4, .outer = 0, .isDynamic = isDynamic});
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, MatMulKernels, testing::ValuesIn(runnableCpus()),
                         [](const auto &info) { return testNameOf(info.param); });

} // namespace

} // namespace dlc::test
