#include "compiler/artifact/TableBuilder.h"

#include "runtime/schema/ContentHash.h"
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

/// `expr` in postfix order.
void flatten(AffineExpr expr, std::vector<schema::ExprStep> &steps) {
  using Code = schema::ExprCode;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return steps.emplace_back(Code::Const, constant.getValue()), void();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return steps.emplace_back(Code::Symbol, symbol.getPosition()), void();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  flatten(binary.getLHS(), steps);
  flatten(binary.getRHS(), steps);
  Code code = Code::Add;
  switch (expr.getKind()) {
  case AffineExprKind::Add: code = Code::Add; break;
  case AffineExprKind::Mul: code = Code::Mul; break;
  case AffineExprKind::FloorDiv: code = Code::FloorDiv; break;
  case AffineExprKind::CeilDiv: code = Code::CeilDiv; break;
  default: code = Code::Mod; break;
  }
  steps.emplace_back(code, 0);
}

template <typename Map, typename Key> uint32_t number(Map &map, Key key) {
  return map.try_emplace(key, map.size()).first->second;
}

} // namespace

uint32_t TableBuilder::expr(AffineExpr e) { return number(exprNumbers, e); }

TableBuilder::Indices TableBuilder::exprs(AffineMap map) {
  Indices result;
  for (AffineExpr e : map.getResults())
    result.push_back(expr(e));
  return result;
}

TableBuilder::Indices TableBuilder::bufferIndices(ValueRange values) const {
  Indices result;
  for (Value value : values)
    result.push_back(bufferNumbers.find(value)->second);
  return result;
}

TableBuilder::Indices TableBuilder::nodeIndices(ArrayAttr nodes) {
  Indices result;
  for (auto node : nodes.getAsRange<StringAttr>())
    result.push_back(number(nodeNumbers, node.getValue()));
  return result;
}

LogicalResult TableBuilder::collect(ArrayRef<NamedWeight> weights) {
  lifetimes = plan::computeLifetimes(program);
  WalkResult walked = program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto buffer = dyn_cast<plan::BufferOp>(op)) {
      auto type = cast<RankedTensorType>(buffer.getType());
      if (!toSchemaType(type.getElementType())) {
        buffer.emitError("artifacts have no element type ") << type.getElementType();
        return WalkResult::interrupt();
      }
      number(bufferNumbers, Value(buffer));
      exprs(buffer.getDims());
      if (auto value = buffer.getValueAttr())
        pool.add(value);
    } else if (auto dispatch = dyn_cast<plan::DispatchOp>(op)) {
      number(kernelNumbers, dispatch.getKernel());
      exprs(dispatch.getSizes());
      nodeIndices(dispatch.getNodes());
      if (auto flops = dispatch.getFlops())
        exprs(*flops);
    } else if (auto check = dyn_cast<plan::CheckIndicesOp>(op)) {
      exprs(check.getBounds());
      nodeIndices(check.getNodes());
    } else if (auto constraint = dyn_cast<plan::ConstraintOp>(op)) {
      exprs(constraint.getSizes());
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (const NamedWeight &weight : weights)
    pool.add(weight.value);
  return success();
}

flatbuffers::Offset<schema::Expr> TableBuilder::buildExpr(Builder &b, AffineExpr e) {
  std::vector<schema::ExprStep> steps;
  flatten(e, steps);
  return schema::CreateExpr(b, b.CreateVectorOfStructs(steps));
}

flatbuffers::Offset<schema::Value> TableBuilder::buildValue(Builder &b,
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
  value.add_constant(buffer.getValueAttr() ? pool.add(buffer.getValueAttr())
                                           : schema::kNone);
  value.add_offset(buffer.getOffset().value_or(-1));
  value.add_alias(buffer.getBase() ? bufferNumbers.find(buffer.getBase())->second
                                   : schema::kNone);
  value.add_first_use(isLive ? lifetime.first : 0);
  value.add_last_use(isLive ? lifetime.last : 0);
  return value.Finish();
}

flatbuffers::Offset<schema::Instruction>
TableBuilder::buildInstruction(Builder &b, Operation *op) {
  using schema::Action;
  if (auto dispatch = dyn_cast<plan::DispatchOp>(op)) {
    Indices operands = bufferIndices(dispatch.getInputs());
    llvm::append_range(operands, bufferIndices(dispatch.getOutputs()));
    Indices sizes = exprs(dispatch.getSizes()), nodes = nodeIndices(dispatch.getNodes());
    uint32_t flops = dispatch.getFlops() ? exprs(*dispatch.getFlops()).front()
                                         : schema::kNone;
    auto action = schema::CreateDispatchDirect(
        b, number(kernelNumbers, dispatch.getKernel()), &operands, &sizes, &nodes, flops);
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
  Indices bounds = exprs(check.getBounds()), nodes = nodeIndices(check.getNodes());
  auto action = schema::CreateCheckIndicesDirect(
      b, bufferIndices(check.getSource()).front(), bounds[0], bounds[1], &nodes);
  return schema::CreateInstruction(b, Action::CheckIndices, action.Union());
}

flatbuffers::Offset<schema::Block> TableBuilder::buildBlock(Builder &b, Block &block) {
  std::vector<flatbuffers::Offset<schema::Instruction>> instructions;
  for (Operation &op : block)
    if (plan::isInstruction(&op))
      instructions.push_back(buildInstruction(b, &op));
  return schema::CreateBlockDirect(b, &instructions);
}

flatbuffers::Offset<schema::Instruction> TableBuilder::buildControl(Builder &b, Operation *op) {
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
  Indices carriedFrom = bufferIndices(loop.getCarriedFrom()), carriedTo = bufferIndices(loop.getCarriedTo());
  Indices scanFrom = bufferIndices(loop.getScanFrom()), scanTo = bufferIndices(loop.getScanTo());
  auto action = schema::CreateLoopDirect(
      b, index(loop.getTrip()), index(loop.getCondition()), index(loop.getCounter()), body,
      &carriedFrom, &carriedTo, &scanFrom, &scanTo, index(loop.getNextCondition()));
  return schema::CreateInstruction(b, Action::Loop, action.Union());
}

std::string TableBuilder::build(ArrayRef<TargetCode> codes,
                                ArrayRef<NamedWeight> weights, uint64_t constantsAt,
                                ArrayRef<uint64_t> codeOffsets) {
  Builder b;
  b.ForceDefaults(true); // The length must not depend on the values.
  Block &body = program.getBody().front();
  std::vector<flatbuffers::Offset<schema::DimSymbol>> symbols;
  for (auto symbol : body.getOps<plan::SymbolOp>())
    symbols.push_back(schema::CreateDimSymbolDirect(
        b, symbol.getName().str().c_str(), symbol.getLower(), symbol.getUpper()));
  std::vector<flatbuffers::Offset<schema::Constraint>> constraints;
  for (auto constraint : body.getOps<plan::ConstraintOp>()) {
    Indices sides = exprs(constraint.getSizes());
    constraints.push_back(schema::CreateConstraintDirect(
        b, sides[0], sides[1], constraint.getReason().str().c_str()));
  }
  std::vector<flatbuffers::Offset<schema::Value>> values;
  Indices inputs, outputs;
  for (auto buffer : body.getOps<plan::BufferOp>()) {
    values.push_back(buildValue(b, buffer));
    if (buffer.getStorage() == plan::Storage::Input)
      inputs.push_back(values.size() - 1);
  }
  for (auto end : body.getOps<plan::OutputsOp>())
    outputs = bufferIndices(end.getValues());
  auto block = buildBlock(b, body);
  std::vector<flatbuffers::Offset<schema::Kernel>> kernels;
  for (auto &[name, index] : kernelNumbers)
    kernels.push_back(schema::CreateKernelDirect(b, name.str().c_str()));
  std::vector<flatbuffers::Offset<schema::Node>> nodes;
  for (auto &[name, index] : nodeNumbers)
    nodes.push_back(schema::CreateNodeDirect(b, name.str().c_str(), ""));
  std::vector<flatbuffers::Offset<schema::Constant>> constants;
  for (const ConstantPool::Entry &entry : pool.entries())
    constants.push_back(schema::CreateConstant(b, constantsAt + entry.offset,
                                               entry.bytes.size()));
  std::vector<flatbuffers::Offset<schema::Code>> codeTables;
  for (auto [i, code] : llvm::enumerate(codes)) {
    std::vector<flatbuffers::Offset<flatbuffers::String>> features;
    for (const std::string &feature : code.features)
      features.push_back(b.CreateString(feature));
    codeTables.push_back(schema::CreateCodeDirect(
        b, code.target.c_str(), code.cpu.c_str(), &features,
        codeOffsets.empty() ? 0 : codeOffsets[i], code.image.size(),
        schema::contentHash(code.image.data(), code.image.size())));
  }
  std::vector<flatbuffers::Offset<flatbuffers::String>> weightNames;
  std::vector<flatbuffers::Offset<schema::Expr>> weightDims;
  Indices weightValues;
  std::vector<schema::ElementType> weightTypes;
  for (const NamedWeight &weight : weights) {
    weightNames.push_back(b.CreateString(weight.name));
    weightValues.push_back(pool.add(weight.value));
    weightTypes.push_back(
        toSchemaType(weight.value.getElementType()).value_or(schema::ElementType::U8));
    std::vector<schema::ExprStep> steps;
    for (int64_t size : weight.value.getShapedType().getShape())
      steps.emplace_back(schema::ExprCode::Const, size);
    weightDims.push_back(schema::CreateExpr(b, b.CreateVectorOfStructs(steps)));
  }
  std::vector<flatbuffers::Offset<schema::Expr>> exprTables;
  for (auto &[e, index] : exprNumbers)
    exprTables.push_back(buildExpr(b, e));
  schema::FinishArtifactBuffer(
      b, schema::CreateArtifactDirect(
             b, schema::kFormatVersion, "dlc", program.getName().str().c_str(),
             &exprTables, &symbols, &constraints, &values, &inputs, &outputs,
             &constants, &kernels, &codeTables, block, &nodes,
             program.getArenaBytes().value_or(0),
             program.getArenaLowerBound().value_or(0), &weightNames, &weightValues,
             &weightTypes, &weightDims));
  return std::string(reinterpret_cast<char *>(b.GetBufferPointer()), b.GetSize());
}

} // namespace dlc
