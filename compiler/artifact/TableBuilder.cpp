#include "compiler/artifact/TableBuilder.h"

#include "dialects/dl/ConstantData.h"

#include "runtime/schema/ContentHash.h"
#include "runtime/schema/Format.h"

using namespace mlir;

namespace dlc {

uint32_t SharedTables::kernel(StringRef name) {
  return kernelNumbers.try_emplace(name, kernelNumbers.size()).first->second;
}

TableIndices SharedTables::nodes(ArrayAttr nodes) {
  TableIndices result;
  for (auto node : nodes.getAsRange<plan::NodeAttr>())
    result.push_back(nodeNumbers.try_emplace(node, nodeNumbers.size()).first->second);
  return result;
}

LogicalResult SharedTables::addState(plan::BufferOp buffer) {
  auto type = cast<RankedTensorType>(buffer.getType());
  if (!type.hasStaticShape())
    return buffer.emitError("the state '")
           << buffer.getName() << "' has no static shape: " << type;
  auto [it, isNew] = states.try_emplace(buffer.getName(), buffer);
  if (!isNew && (it->second.getType() != type ||
                 it->second.getValueAttr() != buffer.getValueAttr()))
    return buffer.emitError("entries disagree on the type or initial value of the state '")
           << buffer.getName() << "'";
  return success();
}

uint32_t SharedTables::state(plan::BufferOp buffer) const {
  return states.find(buffer.getName()) - states.begin();
}

TableBuilder::TableBuilder(ArrayRef<plan::ProgramOp> programs, ConstantPool &pool)
    : shared(pool) {
  for (plan::ProgramOp program : programs)
    entries.emplace_back(program, shared);
}

LogicalResult TableBuilder::collect(ArrayRef<NamedWeight> weights) {
  for (EntryBuilder &entry : entries)
    if (failed(entry.collect()))
      return failure();
  for (const NamedWeight &weight : weights) {
    if (!toSchemaType(weight.value.getElementType()))
      return entries.front().program.emitError("unsupported: artifacts have no element type ")
             << weight.value.getElementType() << ", that of weight '" << weight.name << "'";
    shared.pool.add(weight.value);
  }
  return success();
}

uint32_t TableBuilder::formatVersion() {
  bool isPlain = entries.size() == 1 && shared.states.empty() && !entries.front().program.getEntry();
  return isPlain ? 1 : schema::kFormatVersion;
}

EntryBuilder::Tables<schema::Entry> TableBuilder::buildEntries(Builder &b) {
  EntryBuilder::Tables<schema::Entry> tables;
  for (EntryBuilder &entry : llvm::MutableArrayRef(entries).drop_front()) {
    EntryBuilder::Parts parts = entry.build(b);
    auto exprs = entry.buildExprs(b);
    plan::ProgramOp program = entry.program;
    tables.push_back(schema::CreateEntryDirect(
        b, program.getEntry().value_or("main").str().c_str(), &exprs, &parts.symbols,
        &parts.constraints, &parts.values, &parts.inputs, &parts.outputs, parts.body,
        program.getArenaBytes().value_or(0), program.getArenaLowerBound().value_or(0),
        &parts.updates));
  }
  return tables;
}

/// States lie one after the other in the order in which entries name them: those of
/// one role are together.
EntryBuilder::Tables<schema::State> TableBuilder::buildStates(Builder &b) {
  constexpr int64_t alignment = 64;
  EntryBuilder::Tables<schema::State> tables;
  int64_t offset = 0;
  for (auto &[name, buffer] : shared.states) {
    auto type = cast<RankedTensorType>(buffer.getType());
    std::vector<int64_t> dims(type.getShape());
    uint32_t initial = buffer.getValueAttr() ? shared.pool.add(buffer.getValueAttr()) : schema::kNone;
    tables.push_back(schema::CreateStateDirect(
        b, name.str().c_str(), *toSchemaType(type.getElementType()), &dims,
        buffer.getRole().value_or("").str().c_str(), offset, initial));
    int64_t bytes = plan::staticBytes(buffer).value_or(0);
    offset += (bytes + alignment - 1) / alignment * alignment;
  }
  return tables;
}

namespace {

/// An empty list that is absent keeps the file of a plain model as it always was.
template <typename List> const List *orNone(const List &list) {
  return list.empty() ? nullptr : &list;
}

} // namespace

std::string TableBuilder::build(const CompiledCode &compiled,
                                ArrayRef<NamedWeight> weights, uint64_t constantsAt,
                                ArrayRef<uint64_t> codeOffsets, uint64_t imagesAt) {
  images.clear();
  Builder b;
  b.ForceDefaults(true); // The length must not depend on the values.
  EntryBuilder &first = entries.front();
  EntryBuilder::Parts parts = first.build(b);
  std::vector<flatbuffers::Offset<schema::Kernel>> kernels;
  for (auto &[name, index] : shared.kernelNumbers)
    kernels.push_back(schema::CreateKernelDirect(b, name.str().c_str()));
  std::vector<flatbuffers::Offset<schema::Node>> nodes;
  for (auto &[node, index] : shared.nodeNumbers)
    nodes.push_back(schema::CreateNodeDirect(b, node.getName().str().c_str(),
                                             node.getOp().str().c_str()));
  std::vector<flatbuffers::Offset<schema::Constant>> constants;
  for (const ConstantPool::Entry &entry : shared.pool.entries())
    constants.push_back(schema::CreateConstant(b, constantsAt + entry.offset,
                                               entry.bytes.size()));
  std::vector<flatbuffers::Offset<schema::Code>> codeTables;
  for (auto [i, code] : llvm::enumerate(compiled.codes)) {
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
  TableIndices weightValues;
  std::vector<schema::ElementType> weightTypes;
  for (const NamedWeight &weight : weights) {
    weightNames.push_back(b.CreateString(weight.name));
    weightValues.push_back(shared.pool.add(weight.value));
    weightTypes.push_back(
        *toSchemaType(weight.value.getElementType()));
    std::vector<schema::ExprStep> steps;
    for (int64_t size : weight.value.getShapedType().getShape())
      steps.emplace_back(schema::ExprCode::Const, size);
    weightDims.push_back(schema::CreateExpr(b, b.CreateVectorOfStructs(steps)));
  }
  auto exprTables = first.buildExprs(b);
  plan::ProgramOp program = first.program;
  std::string entryName = program.getEntry().value_or("").str();
  auto entryTables = buildEntries(b);
  auto stateTables = buildStates(b);
  EntryBuilder::Tables<schema::DeviceProgram> devices;
  for (const DeviceProgram &device : compiled.devices)
    devices.push_back(buildDevice(b, device, imagesAt));
  schema::FinishArtifactBuffer(
      b, schema::CreateArtifactDirect(
             b, formatVersion(), "dlc", program.getName().str().c_str(), &exprTables,
             &parts.symbols, &parts.constraints, &parts.values, &parts.inputs, &parts.outputs,
             &constants, &kernels, &codeTables, parts.body, &nodes,
             program.getArenaBytes().value_or(0), program.getArenaLowerBound().value_or(0),
             &weightNames, &weightValues, &weightTypes, &weightDims,
             entryName.empty() ? nullptr : entryName.c_str(), orNone(parts.updates),
             orNone(entryTables), orNone(stateTables), orNone(devices)));
  return std::string(reinterpret_cast<char *>(b.GetBufferPointer()), b.GetSize());
}

} // namespace dlc
