#include "passes/train/StepBuilder.h"

#include "passes/ShapeAnalysis.h"
#include "passes/States.h"

using namespace mlir;

namespace dlc {

namespace {

func::FuncOp cloneAs(func::FuncOp like, StringRef name) {
  auto copy = cast<func::FuncOp>(like->clone());
  copy.setSymName(name);
  like->getParentOfType<ModuleOp>().push_back(copy);
  return copy;
}

func::FuncOp createEmpty(ModuleOp module, StringRef name, StringAttr modelName) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(b, module.getLoc(), name, b.getFunctionType({}, {}));
  if (modelName)
    function->setAttr("dl.name", modelName);
  b.setInsertionPointToStart(function.addEntryBlock());
  func::ReturnOp::create(b, module.getLoc());
  return function;
}

} // namespace

StepBuilder::StepBuilder(func::FuncOp like, StringRef name)
    : func(cloneAs(like, name)), b(func.getBody().front().getTerminator()),
      emitter(b, func.getLoc()) {}

StepBuilder::StepBuilder(ModuleOp module, StringRef name, StringAttr modelName)
    : func(createEmpty(module, name, modelName)), b(func.getBody().front().getTerminator()),
      emitter(b, func.getLoc()) {}

bool StepBuilder::hasInput(StringRef name) const {
  auto function = func;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto known = function.getArgAttrOfType<StringAttr>(i, "dl.name"); known && known == name)
      return true;
  return false;
}

BlockArgument StepBuilder::addInput(StringRef name, Type type, ArrayAttr dims) {
  auto attrs = b.getDictionaryAttr({b.getNamedAttr("dl.name", b.getStringAttr(name)),
                                    b.getNamedAttr(kDimsAttr, dims)});
  unsigned index = func.getNumArguments();
  (void)func.insertArgument(index, type, attrs, func.getLoc());
  return func.getArgument(index);
}

BlockArgument StepBuilder::state(StringAttr name, Type type, StringRef role, ElementsAttr initial) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (stateName(i) == name)
      return func.getArgument(i);
  SmallVector<NamedAttribute> attrs = {b.getNamedAttr(kStateAttr, name),
                                       b.getNamedAttr(kRoleAttr, b.getStringAttr(role))};
  if (initial)
    attrs.push_back(b.getNamedAttr(kInitialAttr, initial));
  unsigned index = func.getNumArguments();
  (void)func.insertArgument(index, type, b.getDictionaryAttr(attrs), func.getLoc());
  return func.getArgument(index);
}

BlockArgument StepBuilder::counter(StringRef name) {
  return state(b.getStringAttr(name), RankedTensorType::get({}, b.getI64Type()), "counter");
}

StringAttr StepBuilder::stateName(unsigned argument) const {
  auto function = func;
  return function.getArgAttrOfType<StringAttr>(argument, kStateAttr);
}

void StepBuilder::addResult(NamedAttribute attr, Value value) {
  auto end = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  unsigned index = func.getNumResults();
  (void)func.insertResult(index, value.getType(), b.getDictionaryAttr(attr));
  end.getOperandsMutable().append(value);
}

void StepBuilder::addResult(StringRef name, Value value) {
  addResult(b.getNamedAttr("dl.name", b.getStringAttr(name)), value);
}

void StepBuilder::update(BlockArgument state, Value value) {
  if (value)
    addResult(b.getNamedAttr(kStateAttr, stateName(state.getArgNumber())), value);
}

void StepBuilder::dropOutputs() {
  auto end = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (unsigned i = func.getNumResults(); i-- > 0;)
    if (!func.getResultAttrOfType<StringAttr>(i, kStateAttr)) {
      (void)func.eraseResult(i);
      end.getOperandsMutable().erase(i);
    }
}

Value StepBuilder::outputCalled(StringRef name) const {
  auto function = func;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto known = function.getResultAttrOfType<StringAttr>(i, "dl.name");
    if (known && (name.empty() || known.getValue() == name))
      return function.getBody().front().getTerminator()->getOperand(i);
  }
  return {};
}

} // namespace dlc
