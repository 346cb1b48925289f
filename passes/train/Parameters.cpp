#include "passes/train/Parameters.h"

#include "passes/States.h"

#include "dialects/dl/ops/Constant.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace dlc {

namespace {

bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Everything that depends on `value` by way of floats, `value` itself included. What an
/// op with regions reads inside counts for its results.
bool reaches(Value value, Value output) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen = {value};
  auto visit = [&](Value v) {
    if (isFloat(v) && seen.insert(v).second)
      open.push_back(v);
  };
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == output)
      return true;
    for (Operation *user : next.getUsers()) {
      llvm::for_each(user->getResults(), visit);
      for (Region &region : user->getRegions())
        llvm::for_each(region.getArguments(), visit);
      Operation *parent = user->getParentOp();
      for (; !isa<func::FuncOp>(parent); parent = parent->getParentOp())
        llvm::for_each(parent->getResults(), visit);
    }
  }
  return false;
}

bool isFrozen(StringRef name, ArrayRef<std::string> patterns) {
  return llvm::any_of(patterns, [&](const std::string &text) { return matchesGlob(name, text); });
}

} // namespace

bool matchesGlob(StringRef name, StringRef text) {
  auto pattern = llvm::GlobPattern::create(text);
  bool matches = pattern ? pattern->match(name) : name == text;
  if (!pattern)
    llvm::consumeError(pattern.takeError());
  return matches;
}

WeightStates chooseStates(func::FuncOp main, Value output, const TrainingOptions &options) {
  llvm::DenseSet<Attribute> updated;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto name = main.getResultAttrOfType<StringAttr>(i, kStateAttr))
      updated.insert(name);
  WeightStates states, statistics;
  for (auto constant : main.getBody().front().getOps<dl::ConstantOp>()) {
    auto name = constant->getAttrOfType<StringAttr>(kWeightAttr);
    if (!name)
      continue;
    if (updated.contains(name))
      statistics[name] = {"statistic", constant.getValue()};
    else if (!constant->hasAttr(kRoleAttr) && isFloat(constant) &&
             !isFrozen(name, options.frozen) && reaches(constant, output))
      states[name] = {"parameter", constant.getValue()};
  }
  for (auto &[name, state] : statistics)
    states[name] = state;
  return states;
}

void weightsToStates(func::FuncOp function, const WeightStates &states) {
  llvm::DenseMap<Attribute, SmallVector<dl::ConstantOp>> constants;
  for (auto constant : function.getBody().front().getOps<dl::ConstantOp>())
    if (auto name = constant->getAttrOfType<StringAttr>(kWeightAttr))
      constants[name].push_back(constant);
  Builder b(function.getContext());
  for (auto &[name, state] : states) {
    auto found = constants.find(name);
    if (found == constants.end())
      continue;
    dl::ConstantOp first = found->second.front();
    unsigned index = function.getNumArguments();
    auto attrs = b.getDictionaryAttr({b.getNamedAttr(kStateAttr, name),
                                      b.getNamedAttr(kRoleAttr, b.getStringAttr(state.role)),
                                      b.getNamedAttr(kInitialAttr, state.initial)});
    (void)function.insertArgument(index, first.getType(), attrs, first.getLoc());
    for (dl::ConstantOp constant : found->second) {
      constant.replaceAllUsesWith(Value(function.getArgument(index)));
      constant.erase();
    }
  }
}

} // namespace dlc
