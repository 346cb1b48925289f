// Entries of one artifact, and the tensors that they share from run to run.

#include "test/runtime/RunTest.h"

using namespace dlc::test;
using namespace dlc::schema;
using Floats = std::vector<float>;

namespace {

/// `main` copies the state `s` out; `set` copies its input into it.
std::string readAndSet() {
  ModelBuilder a;
  std::string initial(16, '\0');
  initial[2] = char(0x80), initial[3] = 0x3f; // 1.0
  a.constantValue(initial, {a.constant(4)}, ElementType::F32);
  uint32_t x = a.input("x", {a.constant(4)});
  uint32_t s = a.state("s", {4}, 0, 0);
  a.updates = {0};
  a.endEntry("set", {a.copy(x, s)});
  uint32_t y = a.output("y", {a.constant(4)});
  return a.build({a.copy(a.stateValue(0, {a.constant(4)}), y)});
}

dlc::Model entryOf(const dlc::Model &model, const char *name) {
  dlc::Model entry;
  dlc::Status status = model.entry(name, entry);
  EXPECT_EQ(status.code(), DLC_OK) << status.message();
  return entry;
}

Floats stateOf(const dlc::Model &model, const char *name) {
  dlc::Tensor tensor;
  dlc::Status status = model.readState(name, tensor);
  EXPECT_EQ(status.code(), DLC_OK) << status.message();
  const float *data = tensor.data<float>();
  return {data, data + tensor.sizeBytes() / 4};
}

TEST(States, LiveFromRunToRunAndAreShared) {
  RunTest test(readAndSet());
  EXPECT_EQ(stateOf(test.model, "s"), (Floats{1, 0, 0, 0}));
  ASSERT_EQ(dlc_model_entry_count(test.model.get()), 2u);
  EXPECT_STREQ(dlc_model_entry_name(test.model.get(), 1), "set");
  Floats data = {5, 6, 7, 8};
  {
    dlc::Model set = entryOf(test.model, "set");
    dlc::Tensor inputs[1] = {RunTest::tensor(data)};
    dlc_tensor *in[1] = {inputs[0].get()};
    dlc::Status status(dlc_model_run(set.get(), in, 1, nullptr, 0, nullptr));
    EXPECT_EQ(status.code(), DLC_OK) << status.message();
  }
  EXPECT_EQ(stateOf(test.model, "s"), data);
  dlc::Tensor outputs[1];
  dlc_tensor *out[1] = {nullptr};
  dlc::Status status(dlc_model_run(test.model.get(), nullptr, 0, out, 1, nullptr));
  EXPECT_EQ(status.code(), DLC_OK) << status.message();
  dlc::Tensor result(out[0]);
  EXPECT_EQ(Floats(result.data<float>(), result.data<float>() + 4), data);
  EXPECT_EQ(dlc::Status(dlc_model_reset_states(test.model.get())).code(), DLC_OK);
  EXPECT_EQ(stateOf(test.model, "s"), (Floats{1, 0, 0, 0}));
}

TEST(States, AreWrittenByName) {
  RunTest test(readAndSet());
  Floats data = {5, 6, 7, 8}, less = {1};
  dlc::Tensor tensor = RunTest::tensor(data), small = RunTest::tensor(less);
  EXPECT_EQ(test.model.writeState("s", tensor).code(), DLC_OK);
  EXPECT_EQ(stateOf(test.model, "s"), data);
  EXPECT_EQ(test.model.writeState("s", small).code(), DLC_USAGE);
  EXPECT_EQ(test.model.writeState("t", tensor).code(), DLC_USAGE);
  EXPECT_EQ(dlc_model_state_count(test.model.get()), 1u);
  EXPECT_STREQ(dlc_model_state_role(test.model.get(), 0), "parameter");
  EXPECT_EQ(dlc_model_state_name(test.model.get(), 1), nullptr);
}

TEST(States, UnknownEntriesAreNamed) {
  RunTest test(readAndSet());
  dlc_model *entry = nullptr;
  dlc::Status status(dlc_model_entry(test.model.get(), "step", &entry));
  EXPECT_EQ(status.code(), DLC_USAGE);
  EXPECT_NE(std::string(status.message()).find("it has: main, set"), std::string::npos);
}

std::string refusal(const std::string &artifact) {
  PageAligned memory(artifact);
  dlc_load_options options = {sizeof options, 1, false, nullptr, nullptr};
  dlc_model *model = nullptr;
  dlc::Status status(dlc_model_load_memory(memory.data(), memory.size(), &options, &model));
  EXPECT_EQ(status.code(), DLC_USAGE);
  return status.message();
}

void expectRefused(const std::string &artifact, const char *why) {
  std::string message = refusal(artifact);
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

TEST(States, BrokenOnesAreRefused) {
  for (int64_t offset : {int64_t(-64), int64_t(3), INT64_MAX - 63}) {
    ModelBuilder a;
    a.state("s", {4}, offset);
    expectRefused(a.build({}), "outside the memory for states");
  }
  {
    ModelBuilder a;
    a.state("s", {int64_t(1) << 62}, 0);
    expectRefused(a.build({}), "outside the memory for states");
  }
  {
    ModelBuilder a;
    a.state("s", {4}, 0), a.state("s", {4}, 64);
    expectRefused(a.build({}), "without a name of its own");
  }
  {
    ModelBuilder a;
    a.constantValue("1234", {a.constant(1)}, ElementType::F32);
    a.state("s", {4}, 0, 0);
    expectRefused(a.build({}), "initial value of another size");
  }
  {
    ModelBuilder a;
    a.state("s", {4}, 0);
    a.stateValue(0, {a.constant(5)});
    expectRefused(a.build({}), "no state of its type and shape");
  }
  {
    ModelBuilder a;
    a.stateValue(7, {});
    expectRefused(a.build({}), "no state of its type and shape");
  }
}

TEST(States, OnlyDeclaredOnesAreCopiedTo) {
  ModelBuilder a;
  uint32_t x = a.input("x", {a.constant(4)}), s = a.state("s", {4}, 0);
  expectRefused(a.build({a.copy(x, s)}), "invalid copy");
}

TEST(States, EntriesNeedNamesOfTheirOwn) {
  ModelBuilder a;
  a.endEntry("main", {});
  expectRefused(a.build({}), "two entries of one name");
}

} // namespace
