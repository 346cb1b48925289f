// Runs of hand-built artifacts: sizes, storage, control flow, errors, threads.

#include "test/runtime/RunTest.h"

#include <numeric>
#include <thread>

using namespace dlc::test;
using namespace dlc::schema;
using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

namespace {

/// y[N] = x + ANSWER, twice, by way of an arena value of symbolic size.
std::string addTwice(const char *code, const char *kernel = "add") {
  ModelBuilder a;
  uint32_t n = a.symbol("N", 0, 100000);
  uint32_t x = a.input("x", {n}), y = a.output("y", {n}), t = a.arena({n}, -1, 0, 1);
  uint32_t add = a.kernel(kernel, true);
  a.code(code);
  return a.build({a.dispatch(add, {x, t}, {n}), a.dispatch(add, {t, y}, {n}, {a.node("sum")})});
}

Floats ramp(size_t n, float from = 0) {
  Floats result(n);
  std::iota(result.begin(), result.end(), from);
  return result;
}

TEST(Executor, SymbolicSizesOneAfterAnother) {
  for (int threads : {1, 3}) {
    RunTest test(addTwice(KERNELS_1), threads);
    for (size_t n : {1, 1000, 15, 16, 17, 0, 1000, 1})
      EXPECT_EQ(test.run<float>(ramp(n)), ramp(n, 2)) << n;
  }
}

TEST(Executor, TwoModelsKeepTheirOwnCode) {
  RunTest first(addTwice(KERNELS_1)), second(addTwice(KERNELS_2));
  EXPECT_EQ(first.run<float>(ramp(3)), ramp(3, 2));
  EXPECT_EQ(second.run<float>(ramp(3)), ramp(3, 4));
}

TEST(Executor, ScratchMemory) {
  RunTest test(addTwice(KERNELS_1, "scratch"), 2);
  for (size_t n : {5, 3000, 40})
    EXPECT_EQ(test.run<float>(ramp(n)), ramp(n, 2));
}

TEST(Executor, ManyThreadsOneModel) {
  RunTest test(addTwice(KERNELS_1), 3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        size_t n = 1 + 311 * t + i;
        EXPECT_EQ(test.run<float>(ramp(n)), ramp(n, 2));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Executor, InputsAreChecked) {
  RunTest test(addTwice(KERNELS_1));
  EXPECT_NE(test.failure(Integers{1}).find("input x has the type i64, expects f32"), std::string::npos);
  EXPECT_NE(test.failure(Floats(100001)).find("axis 0 of input x is 100001, outside the range [0, 100000] of N"),
            std::string::npos);
  EXPECT_EQ(test.run<float>(ramp(2)), ramp(2, 2));
}

TEST(Executor, NullEmptyInput) {
  RunTest test(addTwice(KERNELS_1));
  dlc::Tensor inputs[1], outputs[1];
  ASSERT_FALSE(dlc::Tensor::wrap(DLC_F32, {0}, nullptr, 0, inputs[0]));
  dlc::Status status = test.model.run(inputs, outputs);
  EXPECT_EQ(status.code(), DLC_OK) << status.message();
}

TEST(Executor, TwoInputsMustAgree) {
  ModelBuilder a;
  uint32_t n = a.symbol("N", 0, 9), x = a.input("x", {n});
  a.input("z", {n});
  RunTest test(a.build({a.copy(x, a.output("y", {n}))}));
  Floats two(2), three(3);
  dlc::Tensor inputs[] = {RunTest::tensor(two), RunTest::tensor(three)}, outputs[1];
  dlc::Status status = test.model.run(inputs, outputs);
  EXPECT_STREQ(status.message(), "artifact in memory: axis 0 of input z is 3, but N is 2 elsewhere");
}

TEST(Executor, ConstraintsNameBothSides) {
  ModelBuilder a;
  uint32_t n = a.symbol("N", 0, 9), x = a.input("x", {n});
  a.constrain(n, a.constant(4), "node add");
  RunTest test(a.build({a.copy(x, a.output("y", {n}))}));
  EXPECT_NE(test.failure(Floats(3)).find("node add needs N (3) and 4 (4) to be equal"), std::string::npos);
  EXPECT_EQ(test.run<float>(ramp(4)), ramp(4));
}

TEST(Executor, SymbolicSizesOfOverflowingSum) {
  ModelBuilder a;
  uint32_t n = a.symbol("N", 0, 9), x = a.input("x", {n});
  uint32_t big = a.expr({{ExprCode::Symbol, 0}, {ExprCode::Const, INT64_C(1) << 55}, {ExprCode::Mul, 0}});
  for (int i = 0; i < 200; ++i)
    a.arena({big}, -1, 0, 9);
  RunTest test(a.build({a.copy(x, a.output("y", {n}))}));
  EXPECT_NE(test.failure(Floats(3), DLC_OUT_OF_MEMORY).find("out of memory"), std::string::npos);
}

/// The input's first element is the size of the output, a slice of a constant.
TEST(Executor, SizesThatTheDataDecides) {
  ModelBuilder a;
  uint32_t n = a.symbol("?n", 0, 64), x = a.input("x", {a.constant(1)}, ElementType::I64);
  uint32_t t = a.arena({n}, -1, 1, 3), y = a.output("y", {n});
  uint32_t add = a.kernel("add", true);
  a.code(KERNELS_1);
  uint32_t zeros = a.constantValue(std::string(256, '\0'), {a.constant(64)}, ElementType::F32);
  RunTest test(a.build({a.bind(0, x, 0), a.dispatch(add, {zeros, t}, {n}), a.dispatch(add, {t, y}, {n})}));
  EXPECT_EQ(test.run<float>(Integers{3}), Floats(3, 2));
  EXPECT_EQ(test.run<float>(Integers{64}), Floats(64, 2));
  EXPECT_EQ(test.run<float>(Integers{0}), Floats());
  EXPECT_NE(test.failure(Integers{65}).find("outside the range [0, 64]"), std::string::npos);
  EXPECT_NE(test.failure(Integers{-1}).find("is -1, outside"), std::string::npos);
}

TEST(Executor, BindOutsideTheTensor) {
  for (uint32_t index : {1u, 0xffffffffu}) {
    ModelBuilder a;
    uint32_t n = a.symbol("?n", 0, 64), x = a.input("x", {a.constant(1)}, ElementType::I64);
    a.output("y", {n});
    RunTest test(a.build({a.bind(0, x, index)}));
    EXPECT_NE(test.failure(Integers{3}).find("size read outside a tensor"), std::string::npos);
  }
}

TEST(Executor, SizesUsedBeforeTheyAreKnown) {
  ModelBuilder a;
  uint32_t n = a.symbol("?n", 0, 64), one = a.constant(1), x = a.input("x", {one});
  uint32_t y = a.output("y", {one}), add = a.kernel("add", true);
  a.code(KERNELS_1);
  RunTest test(a.build({a.dispatch(add, {x, y}, {n})}));
  EXPECT_NE(test.failure(Floats(1)).find("the size ?n is used before it is known"), std::string::npos);
}

TEST(Executor, OutputsThatNothingSizes) {
  ModelBuilder a;
  uint32_t n = a.symbol("?n", 0, 64);
  a.input("x", {a.constant(1)});
  a.output("y", {n});
  RunTest test(a.build({}));
  EXPECT_NE(test.failure(Floats(1)).find("before its size is known"), std::string::npos);
}

TEST(Executor, IndicesAreChecked) {
  ModelBuilder a;
  uint32_t n = a.symbol("N", 0, 64), x = a.input("x", {n}, ElementType::I64);
  uint32_t y = a.output("y", {n}, ElementType::I64);
  RunTest test(a.build({a.checkIndices(x, a.constant(-2), a.constant(2)), a.copy(x, y)}));
  EXPECT_EQ(test.run<int64_t>(Integers{-2, 1}), (Integers{-2, 1}));
  EXPECT_NE(test.failure(Integers{0, 2}).find("index 2 is out of range [-2, 1]"), std::string::npos);
  test.failure(Integers{-3});
}

TEST(Executor, KernelErrorsNameKernelAndNode) {
  ModelBuilder a;
  uint32_t one = a.constant(1);
  a.input("x", {one});
  uint32_t y = a.output("y", {one}), bad = a.kernel("bad_index", false);
  a.code(KERNELS_1);
  RunTest test(a.build({a.dispatch(bad, {y}, {}, {a.node("gather_3")})}));
  EXPECT_NE(test.failure(Floats(1)).find("kernel bad_index (gather_3): an index is out of range"), std::string::npos);
}

TEST(Executor, BranchesFollowTheCondition) {
  ModelBuilder a;
  uint32_t one = a.constant(1), x = a.input("x", {one}, ElementType::I64);
  uint32_t flag = a.arena({}, 0, 0, 1, ElementType::Bool), y = a.output("y", {one}, ElementType::I64);
  uint32_t below = a.kernel("below_three", false);
  a.code(KERNELS_1);
  uint32_t seven = a.constantValue(std::string("\7\0\0\0\0\0\0\0", 8), {one}, ElementType::I64);
  RunTest test(a.build({a.dispatch(below, {x, flag}, {}), a.choose(flag, {a.copy(x, y)}, {a.copy(seven, y)})}, 64));
  EXPECT_EQ(test.run<int64_t>(Integers{1}), Integers{1});
  EXPECT_EQ(test.run<int64_t>(Integers{2}), Integers{7});
}

/// Doubles as a while loop (ends after three iterations) and a for loop (`trip`).
std::string countingLoop() {
  ModelBuilder a;
  uint32_t one = a.constant(1), x = a.input("trip", {one}, ElementType::I64);
  uint32_t y = a.output("counters", {a.constant(3)}, ElementType::I64);
  uint32_t counter = a.arena({}, 0, 0, 9, ElementType::I64);
  uint32_t flag = a.arena({}, 64, 0, 9, ElementType::Bool), next = a.arena({}, 128, 0, 9, ElementType::Bool);
  uint32_t yes = a.constantValue("\1", {}, ElementType::Bool);
  uint32_t minus = a.constantValue(std::string(24, '\xff'), {a.constant(3)}, ElementType::I64);
  uint32_t below = a.kernel("below_three", false);
  a.code(KERNELS_1);
  std::vector<uint32_t> none, from = {counter}, to = {y};
  auto body = a.block({a.dispatch(below, {counter, next}, {})});
  auto loop = CreateLoopDirect(a.b, x, flag, counter, body, &none, &none, &from, &to, next);
  return a.build({a.copy(yes, flag), a.copy(minus, y), a.instruction(Action::Loop, loop)}, 192);
}

TEST(Executor, LoopsEndByTripOrCondition) {
  RunTest test(countingLoop());
  EXPECT_EQ(test.run<int64_t>(Integers{0}), (Integers{-1, -1, -1}));
  EXPECT_EQ(test.run<int64_t>(Integers{2}), (Integers{0, 1, -1}));
  EXPECT_EQ(test.run<int64_t>(Integers{50}), (Integers{0, 1, 2}));
  EXPECT_EQ(test.run<int64_t>(Integers{-5}), (Integers{-1, -1, -1}));
}

TEST(Executor, ReshapesShareMemoryAndCheckSizes) {
  ModelBuilder a;
  uint32_t n = a.symbol("N", 0, 64), m = a.expr({{ExprCode::Symbol, 0}, {ExprCode::Const, 2}, {ExprCode::FloorDiv, 0}});
  uint32_t two = a.constant(2), x = a.input("x", {n}), pairs = a.alias(x, {m, two}), y = a.output("y", {m, two});
  RunTest test(a.build({a.copy(pairs, y)}));
  EXPECT_EQ(test.run<float>(ramp(6)), ramp(6));
  EXPECT_NE(test.failure(Floats(5)).find("cannot reshape 20 bytes to 2x2 (16 bytes)"), std::string::npos);
}

TEST(Executor, ProfileSeesEveryDispatchInOrder) {
  RunTest test(addTwice(KERNELS_1));
  Floats data = ramp(4);
  dlc::Tensor input = RunTest::tensor(data);
  dlc_tensor *in = input.get(), *out = nullptr;
  std::vector<std::string> seen;
  dlc_run_options options = {sizeof options, [](void *user, const dlc_profile_entry *entry) {
    static_cast<std::vector<std::string> *>(user)->push_back(std::string(entry->kernel) + ":" + entry->nodes);
  }, &seen};
  dlc::Status status(dlc_model_run(test.model.get(), &in, 1, &out, 1, &options));
  dlc::Tensor output(out);
  EXPECT_EQ(seen, (std::vector<std::string>{"add:", "add:sum"}));
}

TEST(Executor, SignatureAndWhatIsNotInIt) {
  RunTest test(addTwice(KERNELS_1));
  const dlc_model *model = test.model.get();
  int64_t dims[DLC_MAX_RANK];
  EXPECT_STREQ(dlc_model_input_name(model, 0), "x");
  EXPECT_STREQ(dlc_model_output_dim_name(model, 0, 0), "N");
  EXPECT_EQ(dlc_model_input_dims(model, 0, dims), 1);
  EXPECT_EQ(dims[0], -1);
  EXPECT_EQ(dlc_model_input_name(model, 1), nullptr);
  EXPECT_STREQ(dlc_type_name(dlc_model_output_type(model, 1)), "unknown");
  EXPECT_EQ(dlc_model_output_dims(model, 1, dims), -1);
  EXPECT_EQ(dlc_model_input_dim_name(model, 0, 1), nullptr);
  EXPECT_EQ(dlc_model_input_dim_name(model, 0, -1), nullptr);
}

TEST(Executor, OutputsGivenMustFit) {
  RunTest test(addTwice(KERNELS_1));
  Floats data = ramp(4), wrong(5);
  dlc::Tensor inputs[] = {RunTest::tensor(data)}, outputs[] = {RunTest::tensor(wrong)};
  dlc::Status status = test.model.run(inputs, outputs);
  EXPECT_STREQ(status.message(), "artifact in memory: output y is f32 4, the tensor given is f32 5");
}

} // namespace
