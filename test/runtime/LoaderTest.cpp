// Artifacts are hostile: every broken one must be refused with a message.

#include "test/runtime/ModelBuilder.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace dlc::test;
using namespace dlc::schema;

namespace {

struct Loaded {
  dlc_code code;
  std::string message;
};

Loaded load(const std::string &bytes, bool verifyHash = false) {
  PageAligned memory(bytes);
  dlc_load_options options = {sizeof options, 1, verifyHash, nullptr, nullptr};
  dlc_model *model = nullptr;
  dlc_status *status = dlc_model_load_memory(memory.data(), memory.size(), &options, &model);
  Loaded result = {dlc_status_code(status), dlc_status_message(status)};
  EXPECT_EQ(model == nullptr, result.code != DLC_OK);
  dlc_status_free(status);
  dlc_model_free(model);
  return result;
}

void expectRefused(const std::string &bytes, dlc_code code, const char *why) {
  Loaded result = load(bytes);
  EXPECT_EQ(result.code, code) << result.message;
  EXPECT_NE(result.message.find(why), std::string::npos) << result.message;
}

/// Everything at once: symbols, an alias, a constant, a branch, a loop.
std::string richArtifact() {
  ModelBuilder a;
  uint32_t four = a.constant(4), one = a.constant(1), zero = a.constant(0), n = a.symbol("N", 1, 100);
  uint32_t x = a.input("x", {n, four}), y = a.output("y", {n, four});
  uint32_t flat = a.alias(x, {a.expr({{ExprCode::Symbol, 0}, {ExprCode::Const, 4}, {ExprCode::Mul, 0}})});
  uint32_t counter = a.arena({}, 0, 0, 9, ElementType::I64);
  uint32_t flag = a.arena({}, 64, 0, 9, ElementType::Bool);
  uint32_t yes = a.constantValue("\1", {}, ElementType::Bool);
  uint32_t indices = a.constantValue(std::string(16, '\0'), {a.constant(2)}, ElementType::I64);
  a.node("add");
  a.constrain(n, n, "add");
  std::vector<uint32_t> none, from = {flat}, to = {y};
  auto body = a.block({a.copy(flat, y)});
  auto loop = a.instruction(Action::Loop, CreateLoopDirect(a.b, indices, flag, counter, body, &none, &none,
                                                           &none, &none, yes));
  (void)one;
  return a.build({a.copy(yes, flag), a.checkIndices(indices, zero, n), loop,
                  a.choose(yes, {a.copy(flat, y)}, {a.copy(x, y)})},
                 128);
}

TEST(Loader, GoodArtifactsLoad) {
  Loaded result = load(richArtifact(), true);
  EXPECT_EQ(result.code, DLC_OK) << result.message;
}

TEST(Loader, TruncatedAtEveryLength) {
  std::string bytes = richArtifact();
  for (size_t size = 0; size < bytes.size(); size += size < 6000 ? 1 : 997)
    EXPECT_EQ(load(bytes.substr(0, size)).code, DLC_USAGE) << size;
  expectRefused(bytes.substr(0, 4096), DLC_USAGE, "truncated");
  expectRefused("", DLC_USAGE, "truncated");
}

TEST(Loader, EveryByteFlippedIsRefusedByTheHashAndNeverCrashes) {
  std::string bytes = richArtifact();
  uint64_t tableBytes;
  std::memcpy(&tableBytes, bytes.data() + offsetof(FileHeader, tableBytes), 8);
  for (size_t i = 0; i < sizeof(FileHeader) + tableBytes; ++i)
    for (char bits : {char(0xff), char(0x01), char(0x80)}) {
      std::string damaged = bytes;
      damaged[i] ^= bits;
      load(damaged); // may load: not every byte matters
      if (i >= sizeof(FileHeader)) {
        EXPECT_EQ(load(damaged, true).code, DLC_USAGE) << i;
      }
    }
}

TEST(Loader, Header) {
  std::string bytes = richArtifact();
  std::string foreign = bytes, newer = bytes;
  foreign[0] = 'X';
  newer[offsetof(FileHeader, formatVersion)] = 99;
  expectRefused(foreign, DLC_USAGE, "not a dlc artifact");
  expectRefused(newer, DLC_UNSUPPORTED, "format version 99 is newer");
}

TEST(Loader, ValuesOutsideTheArena) {
  ModelBuilder a;
  uint32_t x = a.input("x", {a.constant(32)});
  uint32_t buffer = a.arena({a.constant(32)}, 64);
  expectRefused(a.build({a.copy(x, buffer)}, 128), DLC_USAGE, "outside the arena");
}

TEST(Loader, CopyIntoAConstant) {
  ModelBuilder a;
  uint32_t x = a.input("x", {a.constant(1)});
  uint32_t weights = a.constantValue("abcd", {a.constant(1)}, ElementType::F32);
  expectRefused(a.build({a.copy(x, a.alias(weights, {0}))}), DLC_USAGE, "invalid copy");
}

TEST(Loader, AliasOfItself) {
  ModelBuilder a;
  a.alias(0, {a.constant(1)});
  expectRefused(a.build({}), DLC_USAGE, "alias of a later value");
}

TEST(Loader, MalformedExpressions) {
  for (std::vector<ExprStep> steps : {std::vector<ExprStep>{},
                                      {{ExprCode::Add, 0}},
                                      {{ExprCode::Const, 1}, {ExprCode::Const, 1}},
                                      std::vector<ExprStep>(5000, {ExprCode::Const, 1})}) {
    ModelBuilder a;
    a.expr(steps);
    expectRefused(a.build({}), DLC_USAGE, "expression is");
  }
  ModelBuilder a;
  a.expr({{ExprCode::Symbol, 3}});
  expectRefused(a.build({}), DLC_USAGE, "unknown symbol");
}

TEST(Loader, SizesThatOverflow) {
  ModelBuilder a;
  uint32_t huge = a.constant(INT64_C(1) << 40);
  a.arena({huge, huge}, -1);
  expectRefused(a.build({}), DLC_USAGE, "impossible size");
}

TEST(Loader, DispatchOfNoKernel) {
  ModelBuilder a;
  expectRefused(a.build({a.dispatch(0, {}, {})}), DLC_USAGE, "invalid dispatch");
}

TEST(Loader, BlocksTooDeep) {
  ModelBuilder a;
  uint32_t yes = a.constantValue("\1", {}, ElementType::Bool);
  ModelBuilder::Instructions list;
  for (int depth = 0; depth < 400; ++depth)
    list = {a.choose(yes, list, {})};
  EXPECT_EQ(load(a.build(list)).code, DLC_USAGE);
}

TEST(Loader, MissingCpuFeaturesAreNamed) {
  ModelBuilder a;
  a.kernel("add", true);
  a.code(KERNELS_1, {"quantum"});
  expectRefused(a.build({}), DLC_UNSUPPORTED, "lacks quantum");
}

TEST(Loader, MissingKernelsAreNamed) {
  ModelBuilder a;
  a.kernel("divide", false);
  a.code(KERNELS_1);
  expectRefused(a.build({}), DLC_USAGE, "kernel divide is not in its code");
}

TEST(Loader, NullArguments) {
  dlc_model *model = nullptr;
  dlc_status *status = dlc_model_load(nullptr, nullptr, &model);
  EXPECT_EQ(dlc_status_code(status), DLC_USAGE);
  dlc_status_free(status);
  status = dlc_model_load("/nonexistent.dlc", nullptr, &model);
  EXPECT_EQ(dlc_status_code(status), DLC_USAGE);
  dlc_status_free(status);
}

} // namespace
