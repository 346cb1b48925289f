// The tables of one program: values, sizes, instructions.

#include "compiler/artifact/TableBuilder.h"

#include "compiler/artifact/SizeSteps.h"

#include "runtime/schema/Expr.h"
#include "runtime/schema/Format.h"

using namespace mlir;

namespace dlc {

std::optional<schema::ElementType> toSchemaType(Type element) {
  using T = schema::ElementType;
  if (element.isF32()) return T::F32;
  if (element.isF64()) return T::F64;
  if (element.isF16()) return T::F16;
  if (element.isBF16()) return T::BF16;
  if (isa<Float8E4M3FNType>(element)) return T::F8E4M3FN;
  if (isa<Float8E4M3FNUZType>(element)) return T::F8E4M3FNUZ;
  if (isa<Float8E5M2Type>(element)) return T::F8E5M2;
  if (isa<Float8E5M2FNUZType>(element)) return T::F8E5M2FNUZ;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1: return T::Bool;
  case 8: return isUnsigned ? T::U8 : T::I8;
  case 16: return isUnsigned ? T::U16 : T::I16;
  case 32: return isUnsigned ? T::U32 : T::I32;
  case 64: return isUnsigned ? T::U64 : T::I64;
  default: return std::nullopt;
  }
}

namespace {

template <typename Map, typename Key> uint32_t number(Map &map, Key key) {
  return map.try_emplace(key, map.size()).first->second;
}

} // namespace

uint32_t EntryBuilder::expr(AffineExpr e) { return number(exprNumbers, e); }

TableIndices EntryBuilder::exprs(AffineMap map) {
  TableIndices result;
  for (AffineExpr e : map.getResults())
    result.push_back(expr(e));
  return result;
}

TableIndices EntryBuilder::bufferIndices(ValueRange values) const {
  TableIndices result;
  for (Value value : values)
    result.push_back(bufferNumbers.find(value)->second);
  return result;
}

LogicalResult EntryBuilder::collect() {
  lifetimes = plan::computeLifetimes(program);
  WalkResult walked = program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto buffer = dyn_cast<plan::BufferOp>(op)) {
      auto type = cast<RankedTensorType>(buffer.getType());
      if (!toSchemaType(type.getElementType())) {
        buffer.emitError("unsupported: artifacts have no element type ")
            << type.getElementType();
        return WalkResult::interrupt();
      }
      number(bufferNumbers, Value(buffer));
      exprs(buffer.getDims());
      if (auto value = buffer.getValueAttr())
        shared.pool.add(value);
      if (buffer.getStorage() == plan::Storage::State && failed(shared.addState(buffer)))
        return WalkResult::interrupt();
    } else if (auto dispatch = dyn_cast<plan::DispatchOp>(op)) {
      shared.kernel(dispatch.getKernel());
      exprs(dispatch.getSizes());
      shared.nodes(dispatch.getNodes());
      if (auto flops = dispatch.getFlops())
        exprs(*flops);
    } else if (auto check = dyn_cast<plan::CheckIndicesOp>(op)) {
      exprs(check.getBounds());
      shared.nodes(check.getNodes());
    } else if (auto constraint = dyn_cast<plan::ConstraintOp>(op)) {
      exprs(constraint.getSizes());
    }
    return WalkResult::advance();
  });
  return walked.wasInterrupted() ? failure() : checkExprs();
}

LogicalResult EntryBuilder::checkExprs() {
  // An expression is a graph, its postfix form a tree: measured before it is written.
  struct Extent {
    uint64_t steps = 1;
    int depth = 1;
  };
  llvm::DenseMap<AffineExpr, Extent> extents;
  for (auto &[root, index] : exprNumbers) {
    root.walk([&](AffineExpr e) {
      Extent &extent = extents[e];
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(e)) {
        Extent left = extents.lookup(binary.getLHS()), right = extents.lookup(binary.getRHS());
        extent = {std::min(left.steps + right.steps + 1, schema::kMostExprSteps + 1),
                  std::max(left.depth, right.depth + 1)};
      }
    });
    Extent extent = extents.lookup(root);
    if (extent.steps > schema::kMostExprSteps || extent.depth > schema::kExprStackDepth)
      return program.emitError("unsupported: a size is too long an expression of the "
                               "inputs' sizes (at most ")
             << schema::kMostExprSteps << " steps, " << schema::kExprStackDepth
             << " deep); fix some sizes with --dim";
  }
  return success();
}

flatbuffers::Offset<schema::Expr> EntryBuilder::buildExpr(Builder &b, AffineExpr e) {
  return schema::CreateExpr(b, b.CreateVectorOfStructs(toSizeSteps(e)));
}

flatbuffers::Offset<schema::Value> EntryBuilder::buildValue(Builder &b,
                                                            plan::BufferOp buffer) {
  auto type = cast<RankedTensorType>(buffer.getType());
  auto name = b.CreateString(buffer.getName().str());
  auto dims = b.CreateVector(exprs(buffer.getDims()));
  plan::Lifetime lifetime = lifetimes.lookup(plan::rootBuffer(buffer));
  bool isLive = lifetime.last >= 0;
  schema::ValueBuilder value(b);
  value.add_name(name);
  value.add_element(*toSchemaType(type.getElementType()));
  value.add_dims(dims);
  value.add_storage(static_cast<schema::Storage>(buffer.getStorage()));
  bool isState = buffer.getStorage() == plan::Storage::State;
  if (isState)
    value.add_state(shared.state(buffer));
  value.add_constant(buffer.getValueAttr() && !isState ? shared.pool.add(buffer.getValueAttr())
                                                       : schema::kNone);
  value.add_offset(buffer.getOffset().value_or(-1));
  value.add_alias(buffer.getBase() ? bufferNumbers.find(buffer.getBase())->second
                                   : schema::kNone);
  value.add_first_use(isLive ? lifetime.first : 0);
  value.add_last_use(isLive ? lifetime.last : 0);
  return value.Finish();
}

flatbuffers::Offset<schema::Instruction>
EntryBuilder::buildInstruction(Builder &b, Operation *op) {
  using schema::Action;
  if (auto dispatch = dyn_cast<plan::DispatchOp>(op)) {
    TableIndices operands = bufferIndices(dispatch.getInputs());
    llvm::append_range(operands, bufferIndices(dispatch.getOutputs()));
    TableIndices sizes = exprs(dispatch.getSizes()), nodes = shared.nodes(dispatch.getNodes());
    uint32_t flops = dispatch.getFlops() ? exprs(*dispatch.getFlops()).front()
                                         : schema::kNone;
    auto action = schema::CreateDispatchDirect(
        b, shared.kernel(dispatch.getKernel()), &operands, &sizes, &nodes, flops);
    return schema::CreateInstruction(b, Action::Dispatch, action.Union());
  }
  if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    auto action = schema::CreateCopy(b, bufferIndices(copy.getSource()).front(),
                                     bufferIndices(copy.getTarget()).front());
    return schema::CreateInstruction(b, Action::Copy, action.Union());
  }
  if (auto bind = dyn_cast<plan::BindSymbolOp>(op)) {
    auto action = schema::CreateBindSymbol(
        b, bind.getSymbol(), bufferIndices(bind.getSource()).front(), bind.getIndex());
    return schema::CreateInstruction(b, Action::BindSymbol, action.Union());
  }
  if (isa<plan::IfOp, plan::LoopOp>(op))
    return buildControl(b, op);
  auto check = cast<plan::CheckIndicesOp>(op);
  TableIndices bounds = exprs(check.getBounds()), nodes = shared.nodes(check.getNodes());
  auto action = schema::CreateCheckIndicesDirect(
      b, bufferIndices(check.getSource()).front(), bounds[0], bounds[1], &nodes);
  return schema::CreateInstruction(b, Action::CheckIndices, action.Union());
}

flatbuffers::Offset<schema::Block> EntryBuilder::buildBlock(Builder &b, Block &block) {
  std::vector<flatbuffers::Offset<schema::Instruction>> instructions;
  for (Operation &op : block)
    if (plan::isInstruction(&op))
      instructions.push_back(buildInstruction(b, &op));
  return schema::CreateBlockDirect(b, &instructions);
}

flatbuffers::Offset<schema::Instruction> EntryBuilder::buildControl(Builder &b, Operation *op) {
  using schema::Action;
  auto index = [&](Value buffer) { return buffer ? bufferIndices(buffer).front() : schema::kNone; };
  if (auto choice = dyn_cast<plan::IfOp>(op)) {
    auto thenBlock = buildBlock(b, choice.getThenRegion().front());
    auto elseBlock = buildBlock(b, choice.getElseRegion().front());
    auto action = schema::CreateIf(b, index(choice.getCondition()), thenBlock, elseBlock);
    return schema::CreateInstruction(b, Action::If, action.Union());
  }
  auto loop = cast<plan::LoopOp>(op);
  auto body = buildBlock(b, loop.getBody().front());
  TableIndices carriedFrom = bufferIndices(loop.getCarriedFrom()), carriedTo = bufferIndices(loop.getCarriedTo());
  TableIndices scanFrom = bufferIndices(loop.getScanFrom()), scanTo = bufferIndices(loop.getScanTo());
  auto action = schema::CreateLoopDirect(
      b, index(loop.getTrip()), index(loop.getCondition()), index(loop.getCounter()), body,
      &carriedFrom, &carriedTo, &scanFrom, &scanTo, index(loop.getNextCondition()));
  return schema::CreateInstruction(b, Action::Loop, action.Union());
}

TableIndices EntryBuilder::updatedStates() {
  llvm::MapVector<uint32_t, bool> updated;
  auto note = [&](ValueRange written) {
    for (Value value : written)
      if (plan::BufferOp root = plan::rootBuffer(value); root.getStorage() == plan::Storage::State)
        updated[shared.state(root)] = true;
  };
  program.walk([&](Operation *op) {
    if (auto dispatch = dyn_cast<plan::DispatchOp>(op))
      note(dispatch.getOutputs());
    else if (auto copy = dyn_cast<plan::CopyOp>(op))
      note(copy.getTarget());
  });
  TableIndices result;
  for (auto &[state, isUpdated] : updated)
    result.push_back(state);
  return result;
}

EntryBuilder::Parts EntryBuilder::build(Builder &b) {
  Parts parts;
  Block &body = program.getBody().front();
  for (auto symbol : body.getOps<plan::SymbolOp>())
    parts.symbols.push_back(schema::CreateDimSymbolDirect(
        b, symbol.getName().str().c_str(), symbol.getLower(), symbol.getUpper()));
  for (auto constraint : body.getOps<plan::ConstraintOp>()) {
    TableIndices sides = exprs(constraint.getSizes());
    parts.constraints.push_back(schema::CreateConstraintDirect(
        b, sides[0], sides[1], constraint.getReason().str().c_str()));
  }
  for (auto buffer : body.getOps<plan::BufferOp>()) {
    parts.values.push_back(buildValue(b, buffer));
    if (buffer.getStorage() == plan::Storage::Input)
      parts.inputs.push_back(parts.values.size() - 1);
  }
  for (auto end : body.getOps<plan::OutputsOp>())
    parts.outputs = bufferIndices(end.getValues());
  parts.updates = updatedStates();
  parts.body = buildBlock(b, body);
  return parts;
}

EntryBuilder::Tables<schema::Expr> EntryBuilder::buildExprs(Builder &b) {
  Tables<schema::Expr> tables;
  for (auto &[e, index] : exprNumbers)
    tables.push_back(buildExpr(b, e));
  return tables;
}

} // namespace dlc
