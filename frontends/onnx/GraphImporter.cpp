#include "frontends/onnx/GraphImporter.h"

#include "frontends/onnx/TensorData.h"

#include "dialects/dl/ConstantData.h"
#include "dialects/dl/ops/Constant.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::onnx {

GraphImporter::GraphImporter(const Model &model, MappedFiles &files, IssueList &issues,
                             MLIRContext &context, const ImportOptions &options)
    : model(model), files(files), issues(issues), context(&context), options(options),
      functions(model) {
  for (const OpsetImport &import : model.opsets)
    modelOpsets.try_emplace(import.domain, import.version);
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  ScopedDiagnosticHandler handler(context, [this](Diagnostic &d) { return diagnose(d); });
  OpBuilder b(context);
  module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(b, b.getUnknownLoc(), "main", b.getFunctionType({}, {}));
  main->setAttr("dl.name", b.getStringAttr(model.graph->name));
  b.setInsertionPointToStart(main.addEntryBlock());
  Environment env;
  addConstants(*model.graph, b, env, /*areWeights=*/true);
  addArguments(env);
  for (const Node &node : model.graph->nodes)
    importNode(node, b, env);
  if (issues.hasErrors())
    return nullptr;
  addResults(env);
  addBounds();
  return issues.hasErrors() ? nullptr : std::move(module);
}

namespace {

/// Where a size stays open, `dl.dims` names its symbol. Some exporters write "?" for
/// every size that they do not know: that is no name.
StringRef dimName(const ValueInfo &input, size_t axis, std::string &storage) {
  StringRef param = input.type.dims[axis].param;
  if (llvm::any_of(param, llvm::isAlpha))
    return param;
  return storage = input.name.str() + "." + std::to_string(axis);
}

} // namespace

std::optional<int64_t> GraphImporter::givenSize(const ValueInfo &input, size_t axis) const {
  auto found = options.shapes.find(input.name.str());
  if (found == options.shapes.end() && model.graph->inputs.size() == 1)
    found = options.shapes.find("");
  bool fits = found != options.shapes.end() && found->second.size() == input.type.dims.size();
  return fits ? std::optional(found->second[axis]) : std::nullopt;
}

Type GraphImporter::argumentType(const ValueInfo &input, SmallVector<Attribute> &dims) {
  Builder b(context);
  const TypeInfo &declared = input.type;
  auto refuse = [&](const Twine &why) {
    issues.unsupported(input.name, "input " + quoted(input.name) + why);
    return Type();
  };
  if (declared.kind != TypeInfo::Tensor)
    return refuse(" is not a dense tensor");
  Type element = elementType(declared.elementType, context);
  if (!element)
    return refuse(" has the element type " + dataTypeName(declared.elementType));
  if (!declared.hasShape)
    return refuse(" has no declared shape; its rank must be known");
  SmallVector<int64_t> shape;
  for (auto [axis, dim] : llvm::enumerate(declared.dims)) {
    if (dim.value && *dim.value >= 0) {
      shape.push_back(*dim.value);
      dims.push_back(b.getI64IntegerAttr(*dim.value));
      continue;
    }
    if (dim.value)
      issues.warning(input.name, "axis " + Twine(axis) + " of input " + quoted(input.name) +
                                     " has the size " + Twine(*dim.value) + ", taken as unknown");
    std::string storage;
    StringRef name = dimName(input, axis, storage);
    auto bound = options.dims.find(name.str());
    std::optional<int64_t> size = givenSize(input, axis);
    if (bound != options.dims.end())
      size = bound->second.first == bound->second.second ? std::optional(bound->second.first) : std::nullopt;
    shape.push_back(size.value_or(ShapedType::kDynamic));
    dims.push_back(size ? Attribute(b.getI64IntegerAttr(*size)) : b.getStringAttr(name));
  }
  return RankedTensorType::get(shape, element);
}

void GraphImporter::addArguments(Environment &env) {
  Builder b(context);
  Block &block = main.getBody().front();
  SmallVector<Attribute> argAttrs;
  for (const ValueInfo &input : model.graph->inputs) {
    if (env.values.contains(input.name))
      continue; // an initializer: IR versions before 4 list them among the inputs
    SmallVector<Attribute> dims;
    auto type = dyn_cast_or_null<RankedTensorType>(argumentType(input, dims));
    if (!type)
      continue;
    if (type.hasStaticShape() && !dl::tensorBytes(type)) {
      issues.error(input.name, "input " + quoted(input.name) + " needs more than 2^63 bytes of memory");
      continue;
    }
    BlockArgument arg = block.addArgument(type, NameLoc::get(b.getStringAttr(input.name)));
    dl::TensorInfo info;
    info.element = type.getElementType();
    for (Attribute dim : dims)
      if (auto size = dyn_cast<IntegerAttr>(dim))
        info.dims.push_back(getAffineConstantExpr(size.getInt(), context));
      else
        info.dims.push_back(symbol(cast<StringAttr>(dim).getValue()));
    infos[arg] = std::move(info);
    env.values[input.name] = arg;
    argAttrs.push_back(b.getDictionaryAttr({b.getNamedAttr("dl.name", b.getStringAttr(input.name)),
                                            b.getNamedAttr("dl.dims", b.getArrayAttr(dims))}));
  }
  main.setFunctionType(b.getFunctionType(block.getArgumentTypes(), {}));
  main.setArgAttrsAttr(b.getArrayAttr(argAttrs));
}

void GraphImporter::addConstants(const Graph &graph, OpBuilder &b, Environment &env,
                                 bool areWeights) {
  for (const Tensor &tensor : graph.initializers) {
    Value &slot = env.values[tensor.name];
    ElementsAttr value = onnx::tensorAttr(tensor, "initializer " + quoted(tensor.name), files,
                                          context, issues);
    if (!value)
      continue;
    auto constant = dl::ConstantOp::create(b, NameLoc::get(b.getStringAttr(tensor.name)),
                                           value.getShapedType(), value);
    slot = constant;
    if (areWeights)
      weights.emplace_back(tensor.name.str(), value);
    if (areWeights && options.nameWeights)
      constant->setAttr("dl.weight", b.getStringAttr(tensor.name));
  }
}

void GraphImporter::checkDeclared(const ValueInfo &output, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (output.type.kind != TypeInfo::Tensor)
    return;
  Type element = elementType(output.type.elementType, context);
  if (output.type.elementType && element != type.getElementType()) {
    issues.error(output.name, "output " + quoted(output.name) + " is declared as " +
                                  dataTypeName(output.type.elementType) + " but is " +
                                  dataTypeName(int32_t(dataTypeOf(type.getElementType()))));
    return;
  }
  if (!output.type.hasShape)
    return;
  bool agrees = output.type.dims.size() == size_t(type.getRank());
  for (size_t i = 0; agrees && i < output.type.dims.size(); ++i) {
    auto declared = output.type.dims[i].value;
    agrees = !declared || type.isDynamicDim(i) || *declared == type.getDimSize(i);
  }
  if (!agrees)
    issues.warning(output.name, "output " + quoted(output.name) +
                                    " has another shape than the model declares; the inferred one counts");
}

void GraphImporter::addResults(const Environment &env) {
  Builder b(context);
  SmallVector<Value> values;
  for (const ValueInfo &output : model.graph->outputs) {
    values.push_back(env.lookup(output.name));
    if (!values.back()) {
      issues.error(output.name, "output " + quoted(output.name) + " depends on an input that is omitted");
      return;
    }
    checkDeclared(output, values.back());
  }
  SmallVector<Attribute> resultAttrs;
  for (const ValueInfo &output : model.graph->outputs)
    resultAttrs.push_back(b.getDictionaryAttr(b.getNamedAttr("dl.name", b.getStringAttr(output.name))));
  for (auto &[name, now] : updates) {
    values.push_back(now);
    resultAttrs.push_back(b.getDictionaryAttr(b.getNamedAttr("dl.state", name)));
  }
  OpBuilder end = OpBuilder::atBlockEnd(&main.getBody().front());
  func::ReturnOp::create(end, end.getUnknownLoc(), values);
  main.setFunctionType(b.getFunctionType(main.getArgumentTypes(), ValueRange(values).getTypes()));
  main.setResAttrsAttr(b.getArrayAttr(resultAttrs));
}

void GraphImporter::updateWeight(Value old, Value now) {
  Operation *def = old ? old.getDefiningOp() : nullptr;
  auto name = def ? def->getAttrOfType<StringAttr>("dl.weight") : StringAttr();
  bool isInMain = now && now.getParentBlock() == &main.getBody().front();
  if (options.mode == ImportMode::Training && name && isInMain && now.getType() == old.getType())
    updates.emplace_back(name, now);
}

void GraphImporter::addBounds() {
  Builder b(context);
  SmallVector<NamedAttribute> bounds;
  for (const auto &[name, range] : options.dims) {
    bool isFixed = range.first == range.second;
    if (symbols.contains(name) && !isFixed)
      bounds.push_back(b.getNamedAttr(name, b.getArrayAttr({b.getI64IntegerAttr(range.first),
                                                            b.getI64IntegerAttr(range.second)})));
    else if (!symbols.contains(name) && !isFixed)
      issues.warning("", "--dim: no input has a size called " + quoted(name));
  }
  if (!bounds.empty())
    main->setAttr("dl.symbol_bounds", b.getDictionaryAttr(bounds));
}

AffineExpr GraphImporter::symbol(StringRef name) {
  auto [it, isNew] = symbols.try_emplace(name);
  if (isNew)
    it->second = unknown();
  return it->second;
}

AffineExpr GraphImporter::unknown() { return getAffineSymbolExpr(numSymbols++, context); }

AffineExpr GraphImporter::fromData(Value tensor, int64_t index) {
  auto [it, isNew] = dataSymbols.try_emplace({tensor, index});
  if (isNew)
    it->second = unknown();
  return it->second;
}

dl::TensorInfo GraphImporter::lookup(Value value) {
  auto it = infos.find(value);
  if (it != infos.end())
    return it->second;
  dl::TensorInfo info;
  auto type = cast<RankedTensorType>(value.getType());
  info.element = type.getElementType();
  for (int64_t size : type.getShape())
    info.dims.push_back(ShapedType::isDynamic(size) ? unknown() : getAffineConstantExpr(size, context));
  info.contents = dl::constantContents(value);
  return infos[value] = info;
}

namespace {

/// The constant that a result is, if all its elements are known.
DenseElementsAttr knownValue(const dl::TensorInfo &info, RankedTensorType type) {
  if (!info.contents || !type.hasStaticShape() || !isa<IntegerType>(info.element))
    return {};
  SmallVector<APInt> elements;
  for (AffineExpr expr : *info.contents) {
    auto value = dl::constantSize(expr);
    if (!value)
      return {};
    elements.emplace_back(type.getElementTypeBitWidth(), uint64_t(*value), true, true);
  }
  return DenseElementsAttr::get(type, elements);
}

bool hasSymbol(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr e) { found |= isa<AffineSymbolExpr>(e); });
  return found;
}

} // namespace

bool GraphImporter::tooLarge(Operation *op, ArrayRef<dl::TensorInfo> infos) {
  constexpr int64_t kMostBytes = int64_t(1) << 40;
  // Arithmetic on constants is done at once, except where it overflows.
  for (const dl::TensorInfo &info : infos)
    for (AffineExpr dim : info.dims)
      if (!dl::constantSize(dim) && !hasSymbol(dim)) {
        (void)report("a size of its result overflows", /*isUnsupported=*/false);
        return true;
      }
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape())
      continue;
    auto bytes = dl::tensorBytes(type);
    if (bytes && *bytes <= kMostBytes)
      continue;
    std::string size = bytes ? std::to_string(*bytes) + " bytes" : "more than 2^63 bytes";
    (void)report("its result would need " + size + " of memory", /*isUnsupported=*/false);
    return true;
  }
  return false;
}

SmallVector<Value> GraphImporter::finish(Operation *op, OpBuilder &b) {
  SmallVector<dl::TensorInfo> results;
  if (failed(dl::refineResultTypes(op, *this, results)) || tooLarge(op, results)) {
    SmallVector<Value> none(op->getNumResults());
    op->erase();
    return none;
  }
  if (results.size() == 1 && !op->hasTrait<OpTrait::ConstantLike>())
    if (auto value = knownValue(results[0], cast<RankedTensorType>(op->getResult(0).getType()))) {
      Value constant = dl::ConstantOp::create(b, op->getLoc(), value.getType(), value);
      op->erase();
      return {constant};
    }
  for (auto [result, info] : llvm::zip(op->getResults(), results))
    if (!op->hasTrait<OpTrait::ConstantLike>())
      infos[result] = info;
  return SmallVector<Value>(op->getResults());
}

ElementsAttr GraphImporter::tensorAttr(const Tensor &tensor, StringRef what) {
  size_t before = issues.errorCount();
  ElementsAttr value = onnx::tensorAttr(tensor, what, files, context, issues);
  currentReported |= issues.errorCount() != before;
  return value;
}

} // namespace dlc::onnx
