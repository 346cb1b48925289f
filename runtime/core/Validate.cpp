// Artifacts are hostile: nothing is used before it was checked here. The
// FlatBuffers verifier has run already, so that tables can be read at all.

#include "runtime/core/Program.h"

#include "runtime/schema/Expr.h"
#include "runtime/schema/Format.h"

#include "dlc/dlc.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace dlc::rt {

namespace {

using namespace schema;

class Validator {
public:
  Validator(const Artifact &a, size_t fileBytes, const std::string &file)
      : a(a), fileBytes(fileBytes), file(file) {}

  Status run() {
    if (!a.constants() || !a.kernels() || !a.codes() || !a.nodes())
      return bad("a required table is missing", 0);
    RETURN_IF_ERROR(checkSections());
    RETURN_IF_ERROR(checkStates());
    for (uint32_t i = 0; i < entryCount(a); ++i)
      RETURN_IF_ERROR(checkEntry(i));
    return checkWeights();
  }

private:
  Status bad(const char *what, uint64_t index) {
    return fail(DLC_USAGE, "%s: broken artifact: %s (entry %llu); compile it again",
                file.c_str(), what, (unsigned long long)index);
  }
  template <typename Vector> static uint64_t sizeOf(const Vector *vector) {
    return vector ? vector->size() : 0;
  }
  bool isExpr(uint32_t i) const { return i < e.exprs->size(); }
  bool isValue(uint32_t i) const { return i < e.values->size(); }
  template <typename Vector, typename Check>
  static bool all(const Vector *vector, Check check) {
    for (uint64_t i = 0; i < sizeOf(vector); ++i)
      if (!check(vector->Get(i)))
        return false;
    return true;
  }

  Status checkEntry(uint32_t index) {
    if (index > 0 && !a.entries()->Get(index - 1)->name())
      return bad("entry without a name", index);
    e = entryAt(a, index);
    for (uint32_t i = 0; i < index; ++i)
      if (std::string_view(entryAt(a, i).name) == e.name)
        return bad("two entries of one name", index);
    if (!e.exprs || !e.symbols || !e.values || !e.inputs || !e.outputs || !e.body ||
        !e.constraints)
      return bad("a required table is missing", index);
    RETURN_IF_ERROR(checkExprs());
    RETURN_IF_ERROR(checkValues());
    RETURN_IF_ERROR(checkSignature());
    return checkBlock(e.body, 0);
  }

  Status checkStates() {
    constexpr int64_t mostBytes = int64_t(1) << 46;
    std::unordered_set<std::string_view> names;
    for (uint32_t i = 0; i < sizeOf(a.states()); ++i) {
      const State *state = a.states()->Get(i);
      if (!state->name() || !state->role() || !names.insert(state->name()->string_view()).second)
        return bad("state without a name of its own", i);
      if (state->element() > ElementType::MAX || sizeOf(state->dims()) > DLC_MAX_RANK)
        return bad("state has an invalid shape", i);
      int64_t bytes = stateSizeBytes(*state);
      if (bytes < 0 || bytes > mostBytes || state->offset() < 0 ||
          state->offset() % 64 != 0 || state->offset() > mostBytes)
        return bad("state lies outside the memory for states", i);
      if (state->constant() != kNone &&
          (state->constant() >= a.constants()->size() ||
           a.constants()->Get(state->constant())->size_bytes() != uint64_t(bytes)))
        return bad("state has an initial value of another size", i);
    }
    return nullptr;
  }

  /// A value may be a state only if it has its type and shape.
  bool fitsState(const Value *value) const {
    if (value->state() >= sizeOf(a.states()))
      return false;
    const State *state = a.states()->Get(value->state());
    if (state->element() != value->element() || sizeOf(state->dims()) != sizeOf(value->dims()))
      return false;
    for (uint32_t d = 0; d < sizeOf(value->dims()); ++d) {
      const auto *steps = e.exprs->Get(value->dims()->Get(d))->steps();
      if (steps->size() != 1 || steps->Get(0)->code() != ExprCode::Const ||
          steps->Get(0)->value() != state->dims()->Get(d))
        return false;
    }
    return true;
  }

  Status checkExprs() {
    for (uint32_t i = 0; i < e.exprs->size(); ++i) {
      const Expr *expr = e.exprs->Get(i);
      int64_t depth = 0;
      if (sizeOf(expr->steps()) > kMostExprSteps)
        return bad("expression is too long", i);
      for (uint32_t s = 0; s < sizeOf(expr->steps()); ++s) {
        const ExprStep *step = expr->steps()->Get(s);
        if (step->code() > ExprCode::MAX)
          return bad("unknown expression code", i);
        if (step->code() == ExprCode::Symbol &&
            uint64_t(step->value()) >= e.symbols->size())
          return bad("expression names an unknown symbol", i);
        depth += step->code() <= ExprCode::Symbol ? 1 : -1;
        if (depth < 1 || depth > kExprStackDepth)
          return bad("expression is malformed", i);
      }
      if (depth != 1)
        return bad("expression is malformed", i);
    }
    for (uint32_t i = 0; i < e.symbols->size(); ++i)
      if (!e.symbols->Get(i)->name())
        return bad("symbol without a name", i);
    for (uint32_t i = 0; i < e.constraints->size(); ++i)
      if (!isExpr(e.constraints->Get(i)->left()) ||
          !isExpr(e.constraints->Get(i)->right()))
        return bad("constraint over an unknown expression", i);
    return nullptr;
  }

  bool inFile(uint64_t offset, uint64_t size) const {
    return offset <= fileBytes && size <= fileBytes - offset;
  }

  Status checkSections() {
    for (uint32_t i = 0; i < a.constants()->size(); ++i) {
      const Constant *constant = a.constants()->Get(i);
      if (!inFile(constant->offset(), constant->size_bytes()) ||
          constant->offset() % 64 != 0)
        return bad("constant lies outside the file", i);
    }
    for (uint32_t i = 0; i < a.codes()->size(); ++i) {
      const Code *code = a.codes()->Get(i);
      if (!inFile(code->offset(), code->size_bytes()) || !code->target() ||
          !code->cpu())
        return bad("machine code lies outside the file", i);
    }
    for (uint32_t i = 0; i < a.kernels()->size(); ++i)
      if (!a.kernels()->Get(i)->name())
        return bad("kernel without a name", i);
    return nullptr;
  }

  /// The value's bytes when its shape is constant; -1 when symbolic, -2 when
  /// that overflows.
  int64_t staticBytes(const Value *value) const {
    int64_t dims[DLC_MAX_RANK] = {};
    for (uint32_t d = 0; d < sizeOf(value->dims()); ++d) {
      const auto *steps = e.exprs->Get(value->dims()->Get(d))->steps();
      if (steps->size() != 1 || steps->Get(0)->code() != ExprCode::Const)
        return -1;
      dims[d] = steps->Get(0)->value();
    }
    int64_t bytes = dlc_type_size_bytes(dlc_type(value->element()), dims,
                                        int(sizeOf(value->dims())));
    return bytes < 0 ? -2 : bytes;
  }

  Status checkValues() {
    int64_t arena = e.arenaBytes;
    if (arena < 0 || arena > (int64_t(1) << 46))
      return bad("absurd arena size", 0);
    for (uint32_t i = 0; i < e.values->size(); ++i) {
      const Value *value = e.values->Get(i);
      if (value->element() > ElementType::MAX || value->storage() > Storage::MAX)
        return bad("unknown element type or storage", i);
      if (!all(value->dims(), [&](uint32_t e) { return isExpr(e); }) ||
          sizeOf(value->dims()) > DLC_MAX_RANK)
        return bad("value has an invalid shape", i);
      int64_t bytes = staticBytes(value);
      if (bytes == -2)
        return bad("value has an impossible size", i);
      switch (value->storage()) {
      case Storage::Constant:
        if (value->constant() >= a.constants()->size() || bytes < 0 ||
            uint64_t(bytes) != a.constants()->Get(value->constant())->size_bytes())
          return bad("constant has another size than its shape", i);
        break;
      case Storage::Arena:
        if (value->offset() >= 0 &&
            (bytes < 0 || value->offset() % 64 != 0 || value->offset() > arena ||
             bytes > arena - value->offset()))
          return bad("value lies outside the arena", i);
        break;
      case Storage::Alias: {
        if (value->alias() >= i)
          return bad("alias of a later value", i);
        int64_t base = staticBytes(e.values->Get(value->alias()));
        // Sizes known only during the run are compared there.
        if (bytes >= 0 && base >= 0 && bytes != base)
          return bad("alias of a value of another size", i);
        break;
      }
      case Storage::State:
        if (!fitsState(value))
          return bad("value is no state of its type and shape", i);
        break;
      default:
        break;
      }
    }
    return nullptr;
  }

  template <typename Vector> static bool hasRepeats(const Vector *vector) {
    std::vector<uint32_t> sorted(vector->begin(), vector->end());
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }

  Status checkSignature() {
    if (!all(e.updates, [&](uint32_t s) { return s < sizeOf(a.states()); }))
      return bad("updates an unknown state", 0);
    if (hasRepeats(e.inputs) || hasRepeats(e.outputs))
      return bad("one value is two inputs or outputs", 0);
    for (uint32_t i = 0; i < e.inputs->size(); ++i)
      if (!isValue(e.inputs->Get(i)) || !e.values->Get(e.inputs->Get(i))->name() ||
          e.values->Get(e.inputs->Get(i))->storage() != Storage::Input)
        return bad("invalid input", i);
    for (uint32_t i = 0; i < e.outputs->size(); ++i)
      if (!isValue(e.outputs->Get(i)) ||
          !e.values->Get(e.outputs->Get(i))->name() ||
          e.values->Get(e.outputs->Get(i))->storage() != Storage::Output)
        return bad("invalid output", i);
    return nullptr;
  }

  bool isWritable(uint32_t i) const {
    const Value *value = e.values->Get(i);
    while (value->storage() == Storage::Alias)
      value = e.values->Get(value->alias());
    if (value->storage() == Storage::State)
      return !all(e.updates, [&](uint32_t state) { return state != value->state(); });
    return value->storage() == Storage::Arena || value->storage() == Storage::Output;
  }

  bool nodesExist(const flatbuffers::Vector<uint32_t> *nodes) const {
    return all(nodes, [&](uint32_t n) {
      return n < a.nodes()->size() && a.nodes()->Get(n)->name();
    });
  }

  Status checkInstruction(const schema::Instruction *instruction, uint32_t i, uint32_t depth) {
    if (const auto *dispatch = instruction->action_as_Dispatch()) {
      if (dispatch->kernel() >= a.kernels()->size() ||
          !all(dispatch->operands(), [&](uint32_t v) { return isValue(v); }) ||
          !all(dispatch->dims(), [&](uint32_t e) { return isExpr(e); }) ||
          !nodesExist(dispatch->nodes()) ||
          (dispatch->flops() != kNone && !isExpr(dispatch->flops())))
        return bad("invalid dispatch", i);
    } else if (const auto *copy = instruction->action_as_Copy()) {
      if (!isValue(copy->source()) || !isValue(copy->target()) ||
          !isWritable(copy->target()))
        return bad("invalid copy", i);
    } else if (const auto *bind = instruction->action_as_BindSymbol()) {
      if (!isValue(bind->value()) || bind->symbol() >= e.symbols->size())
        return bad("invalid bind", i);
    } else if (const auto *check = instruction->action_as_CheckIndices()) {
      if (!isValue(check->value()) || !isExpr(check->lower()) ||
          !isExpr(check->upper()) || !nodesExist(check->nodes()))
        return bad("invalid index check", i);
    } else if (const auto *choice = instruction->action_as_If()) {
      if (!isFlag(choice->condition()))
        return bad("invalid condition", i);
      RETURN_IF_ERROR(checkBlock(choice->then_block(), depth + 1));
      RETURN_IF_ERROR(checkBlock(choice->else_block(), depth + 1));
    } else if (const auto *loop = instruction->action_as_Loop()) {
      if (!checkLoop(*loop))
        return bad("invalid loop", i);
      RETURN_IF_ERROR(checkBlock(loop->body(), depth + 1));
    } else {
      return fail(DLC_UNSUPPORTED,
                  "%s: instruction %u is of a kind that this runtime does not run",
                  file.c_str(), i);
    }
    return nullptr;
  }

  bool isOf(uint32_t i, ElementType type) const {
    return isValue(i) && e.values->Get(i)->element() == type;
  }
  bool isFlag(uint32_t i) const { return isOf(i, ElementType::Bool); }

  bool checkLoop(const Loop &loop) const {
    auto isTarget = [&](uint32_t v) { return isValue(v) && isWritable(v); };
    auto isAnyValue = [&](uint32_t v) { return isValue(v); };
    return isOf(loop.counter(), ElementType::I64) && isWritable(loop.counter()) &&
           (loop.trip() == kNone || isOf(loop.trip(), ElementType::I64)) &&
           isFlag(loop.condition()) && isWritable(loop.condition()) &&
           isFlag(loop.next_condition()) && all(loop.carried_from(), isAnyValue) &&
           all(loop.carried_to(), isTarget) && all(loop.scan_from(), isAnyValue) &&
           all(loop.scan_to(), isTarget) &&
           sizeOf(loop.carried_from()) == sizeOf(loop.carried_to()) &&
           sizeOf(loop.scan_from()) == sizeOf(loop.scan_to());
  }

  Status checkBlock(const schema::Block *block, uint32_t depth) {
    if (!block || depth > kDeepestBlock)
      return bad("a block is missing or too deep", depth);
    const auto *list = block->instructions();
    for (uint32_t i = 0; i < sizeOf(list); ++i)
      RETURN_IF_ERROR(checkInstruction(list->Get(i), i, depth));
    return nullptr;
  }

  Status checkWeights() {
    uint64_t count = sizeOf(a.weight_names());
    if (sizeOf(a.weight_values()) != count || sizeOf(a.weight_elements()) != count ||
        sizeOf(a.weight_dims()) != count)
      return bad("weight tables differ in length", count);
    if (!all(a.weight_values(), [&](uint32_t c) { return c < a.constants()->size(); }))
      return bad("weight names an unknown constant", 0);
    if (!all(a.weight_elements(), [](ElementType type) { return type <= ElementType::MAX; }))
      return bad("weight of an unknown type", 0);
    auto isConst = [](const ExprStep *step) { return step->code() == ExprCode::Const; };
    if (!all(a.weight_dims(), [&](const Expr *dims) { return all(dims->steps(), isConst); }))
      return bad("weight of an invalid shape", 0);
    return nullptr;
  }

  const Artifact &a;
  EntryView e = {}; // the one that is looked at
  size_t fileBytes;
  const std::string &file;
};

} // namespace

Status validate(const Artifact &artifact, size_t fileBytes, const std::string &file) {
  return Validator(artifact, fileBytes, file).run();
}

} // namespace dlc::rt
