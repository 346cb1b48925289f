#include "frontends/onnx/GraphImporter.h"

#include "dialects/dl/ConstantData.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ScalarMath.h"
#include "dialects/dl/ops/Elementwise.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

constexpr int kMaxFunctionDepth = 64;
constexpr int64_t kMaxInlinedNodes = 1000000;
/// Constants up to this many elements may be asked for by handlers.
constexpr int64_t kKnownElements = 4096;

std::string describe(const Node &node) {
  if (!node.name.empty())
    return std::string(node.name);
  for (std::string_view output : node.outputs)
    if (!output.empty())
      return std::string(output);
  return std::string(node.opType);
}

} // namespace

bool isDefaultDomain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx";
}

int64_t opsetOf(ArrayRef<OpsetId> opsets, std::string_view domain) {
  for (const OpsetId &opset : opsets)
    if (opset.domain == domain ||
        (isDefaultDomain(opset.domain) && isDefaultDomain(domain)))
      return opset.version;
  return 0;
}

void GraphImporter::issue(std::string node, std::string message, bool isUnsupported) {
  result.issues.push_back({false, isUnsupported, std::move(node), std::move(message)});
}

LogicalResult GraphImporter::report(const Node &node, const Twine &what,
                                    bool isUnsupported) {
  issue(describe(node),
        (isUnsupported ? "unsupported: " : "") + std::string(node.opType) + ": " + what.str(),
        isUnsupported);
  return failure();
}

Location GraphImporter::locationOf(const Node &node) {
  return NameLoc::get(b.getStringAttr(describe(node)));
}

FailureOr<Value> GraphImporter::constant(const Tensor &tensor, Location loc) {
  std::string error;
  ElementsAttr value = tensors.convert(tensor, b.getContext(), error);
  if (!value) {
    bool isUnsupported = StringRef(error).starts_with("unsupported");
    issue(std::string(tensor.name), "tensor '" + std::string(tensor.name) + "': " + error,
          isUnsupported);
    return failure();
  }
  return Value(dl::ConstantOp::create(b, loc, value.getShapedType(), value));
}

namespace {

/// The constant that `value` is, when it is small enough to look into.
ElementsAttr smallConstant(Value value) {
  auto op = value.getDefiningOp<dl::ConstantOp>();
  if (!op || op.getValue().getNumElements() > kKnownElements)
    return {};
  return op.getValue();
}

template <typename Element, typename Result>
void read(ArrayRef<char> bytes, SmallVector<Result> &out) {
  for (size_t at = 0; at + sizeof(Element) <= bytes.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, bytes.data() + at, sizeof(Element));
    out.push_back(Result(element));
  }
}

} // namespace

std::optional<SmallVector<int64_t>> GraphImporter::knownInts(Value value) {
  // Shape arithmetic that is already decided counts as constant.
  if (auto cast = value.getDefiningOp<dl::CastOp>();
      cast && isa<IntegerType>(dl::elementOf(cast.getInput())))
    return knownInts(cast.getInput());
  ElementsAttr attr = smallConstant(value);
  if (!attr)
    return std::nullopt;
  std::vector<char> storage;
  ArrayRef<char> bytes = dl::constantBytes(attr, storage);
  SmallVector<int64_t> result;
  auto type = cast<IntegerType>(attr.getElementType());
  switch (type.getWidth()) {
  case 64: read<int64_t>(bytes, result); break;
  case 32: type.isUnsigned() ? read<uint32_t>(bytes, result) : read<int32_t>(bytes, result); break;
  case 16: type.isUnsigned() ? read<uint16_t>(bytes, result) : read<int16_t>(bytes, result); break;
  default: type.isUnsigned() ? read<uint8_t>(bytes, result) : read<int8_t>(bytes, result); break;
  }
  return result;
}

std::optional<SmallVector<double>> GraphImporter::knownFloats(Value value) {
  ElementsAttr attr = smallConstant(value);
  if (!attr)
    return std::nullopt;
  std::vector<char> storage;
  ArrayRef<char> bytes = dl::constantBytes(attr, storage);
  SmallVector<double> result;
  Type type = attr.getElementType();
  if (type.isF32())
    read<float>(bytes, result);
  else if (type.isF64())
    read<double>(bytes, result);
  else
    for (size_t at = 0; at + 2 <= bytes.size(); at += 2) {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + at, 2);
      APFloat half(cast<FloatType>(type).getFloatSemantics(), APInt(16, bits));
      bool ignored;
      half.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
      result.push_back(half.convertToDouble());
    }
  return result;
}

Value GraphImporter::lookup(std::string_view name, Scope &scope) {
  if (auto it = scope.find(StringRef(name)); it != scope.end())
    return it->second;
  if (auto it = constants.find(StringRef(name)); it != constants.end())
    return it->second;
  auto initializer = initializers.find(StringRef(name));
  if (initializer == initializers.end())
    return {};
  // At the top of the function, so that every region can see it.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  auto value = constant(*initializer->second,
                        NameLoc::get(b.getStringAttr(StringRef(name))));
  return constants[StringRef(name)] = succeeded(value) ? *value : Value();
}

const Function *GraphImporter::findFunction(const Node &node) const {
  for (const Function &function : model.functions)
    if (function.name == node.opType && function.overload == node.overload &&
        (function.domain == node.domain ||
         (isDefaultDomain(function.domain) && isDefaultDomain(node.domain))))
      return &function;
  return nullptr;
}

namespace {

/// Attributes of a function's node that name the call's attributes.
void bindAttributes(std::vector<Node> &nodes, const Node &call, const Function &function) {
  for (Node &node : nodes) {
    std::vector<Attribute> bound;
    for (Attribute &a : node.attributes) {
      if (a.refName.empty()) {
        bound.push_back(std::move(a));
        continue;
      }
      const Attribute *given = call.find(a.refName);
      for (const Attribute &fallback : function.attributeDefaults)
        if (!given && fallback.name == a.refName)
          given = &fallback;
      if (!given)
        continue; // Absent stays absent.
      bound.push_back(*given);
      bound.back().name = a.name;
      bound.back().refName = {};
    }
    node.attributes = std::move(bound);
    for (Attribute &a : node.attributes)
      if (a.graph) {
        a.graph = std::make_shared<Graph>(*a.graph);
        bindAttributes(a.graph->nodes, call, function);
      }
  }
}

} // namespace

bool GraphImporter::inlineFunction(const Node &node, const Function &function,
                                   Scope &scope) {
  inlinedNodes += function.nodes.size();
  if (functionDepth >= kMaxFunctionDepth || inlinedNodes > kMaxInlinedNodes) {
    (void)report(node, "its function calls itself, or grows past a million nodes", false);
    return false;
  }
  ++functionDepth;
  std::vector<Node> nodes = function.nodes;
  bindAttributes(nodes, node, function);
  Scope inner;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    if (i < node.inputs.size() && !node.inputs[i].empty())
      inner[StringRef(function.inputs[i])] = lookup(node.inputs[i], scope);
  importNodes(nodes, inner, function.opsets);
  for (size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i)
    scope[StringRef(node.outputs[i])] = inner.lookup(StringRef(function.outputs[i]));
  --functionDepth;
  return true;
}

void GraphImporter::importNode(const Node &node, Scope &scope, ArrayRef<OpsetId> opsets) {
  auto poison = [&] {
    for (std::string_view output : node.outputs)
      scope.try_emplace(StringRef(output), Value());
  };
  if (result.issues.size() > 1000)
    return poison();
  int64_t opset = opsetOf(opsets, node.domain);
  if (const Function *function = findFunction(node)) {
    if (!inlineFunction(node, *function, scope))
      poison();
    return;
  }
  std::string where = " (domain '" + std::string(isDefaultDomain(node.domain) ? "ai.onnx" : node.domain) +
                      "', opset " + std::to_string(opset) + ")";
  if (opset == 0) {
    (void)report(node, "its domain '" + Twine(StringRef(node.domain)) + "' is not imported by the model", false);
    return poison();
  }
  auto handler = opRegistry().find(node.opType);
  if (!isDefaultDomain(node.domain) || handler == opRegistry().end()) {
    (void)report(node, "no such operator here" + where, true);
    return poison();
  }
  OpBuilder::InsertionGuard guard(b);
  NodeContext context(*this, node, b, locationOf(node), opset);
  for (std::string_view name : node.inputs) {
    Value value = name.empty() ? Value() : lookup(name, scope);
    if (!name.empty() && !value)
      return poison(); // Reported where it went missing.
    context.inputs.push_back(value);
  }
  size_t before = result.issues.size();
  LogicalResult ok = handler->second(context);
  if (succeeded(ok) && !context.attributeError)
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty() && !context.outputs[i] && result.issues.size() == before)
        ok = report(node, "output " + Twine(i) + " is not supported" + where, true);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    scope[StringRef(node.outputs[i])] =
        succeeded(ok) && !context.attributeError ? context.outputs[i] : Value();
}

void GraphImporter::importNodes(const std::vector<Node> &nodes, Scope &scope,
                                ArrayRef<OpsetId> opsets) {
  for (const Node &node : nodes)
    importNode(node, scope, opsets);
}

FailureOr<RankedTensorType>
GraphImporter::inputType(const ValueInfo &info, const ImportOptions &options,
                         SmallVector<mlir::Attribute> &names) {
  std::string name(info.name);
  if (!info.isTensor) {
    issue(name, "unsupported: input '" + name + "' is a " + std::string(info.kind), true);
    return failure();
  }
  Type element = elementType(info.dataType, b.getContext());
  if (!element) {
    issue(name, "unsupported: input '" + name + "' has the element type " +
                    dataTypeName(info.dataType), true);
    return failure();
  }
  if (!info.hasShape) {
    issue(name, "unsupported: input '" + name + "' has no shape", true);
    return failure();
  }
  SmallVector<int64_t> shape;
  for (auto [axis, dim] : llvm::enumerate(info.dims)) {
    std::string symbol = dim.symbol.empty() ? name + "." + std::to_string(axis)
                                            : std::string(dim.symbol);
    auto bounds = options.dims.find(symbol);
    int64_t size = dim.size >= 0 ? dim.size : ShapedType::kDynamic;
    if (size == ShapedType::kDynamic && bounds != options.dims.end() &&
        bounds->second.first == bounds->second.second)
      size = bounds->second.first;
    shape.push_back(size);
    names.push_back(size >= 0 ? mlir::Attribute(b.getI64IntegerAttr(size))
                              : mlir::Attribute(b.getStringAttr(symbol)));
  }
  auto type = RankedTensorType::get(shape, element);
  constexpr int64_t mostBytes = int64_t(1) << 46;
  if (type.hasStaticShape()) {
    auto bytes = dl::tensorBytes(type);
    if (!bytes || *bytes > mostBytes) {
      issue(name, "input '" + name + "' would need " +
                      (bytes ? std::to_string(*bytes) : "more than 2^63") + " bytes of memory",
            false);
      return failure();
    }
  }
  return type;
}

LogicalResult GraphImporter::declareInputs(func::FuncOp function,
                                           const ImportOptions &options) {
  bool ok = true;
  SmallVector<Type> types;
  for (const ValueInfo &info : model.graph.inputs) {
    if (initializers.contains(StringRef(info.name)))
      continue; // IR 3 lists initializers as inputs; they are constants here.
    SmallVector<mlir::Attribute> names;
    auto type = inputType(info, options, names);
    if (failed(type)) {
      ok = false;
      continue;
    }
    unsigned index = types.size();
    (void)function.insertArgument(index, *type, DictionaryAttr(),
                                  NameLoc::get(b.getStringAttr(StringRef(info.name))));
    function.setArgAttr(index, "dl.name", b.getStringAttr(StringRef(info.name)));
    function.setArgAttr(index, "dl.dims", b.getArrayAttr(names));
    types.push_back(*type);
  }
  SmallVector<NamedAttribute> bounds;
  for (const auto &[name, range] : options.dims)
    bounds.push_back(b.getNamedAttr(
        name, b.getI64ArrayAttr({range.first, range.second})));
  function->setAttr("dl.symbol_bounds", b.getDictionaryAttr(bounds));
  return success(ok);
}

LogicalResult GraphImporter::run(const ImportOptions &options) {
  result.module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(result.module->getBody());
  for (const Tensor &tensor : model.graph.initializers)
    initializers[StringRef(tensor.name)] = &tensor;
  auto function = func::FuncOp::create(b, b.getUnknownLoc(), "main",
                                       b.getFunctionType({}, {}));
  function->setAttr("dl.name", b.getStringAttr(StringRef(model.graph.name)));
  entry = function.addEntryBlock();
  bool ok = succeeded(declareInputs(function, options));
  b.setInsertionPointToEnd(entry);
  Scope scope;
  unsigned index = 0;
  for (const ValueInfo &info : model.graph.inputs)
    if (!initializers.contains(StringRef(info.name)))
      scope[StringRef(info.name)] =
          ok ? Value(function.getArgument(index++)) : Value();
  // Every weight is converted, used or not, so that it can be extracted.
  for (const Tensor &tensor : model.graph.initializers)
    if (Value value = lookup(tensor.name, scope))
      result.weights.emplace_back(std::string(tensor.name),
                                  value.getDefiningOp<dl::ConstantOp>().getValue());
  importNodes(model.graph.nodes, scope, model.opsets);
  SmallVector<Value> outputs;
  for (const ValueInfo &info : model.graph.outputs) {
    Value value = lookup(info.name, scope);
    if (!value)
      ok = false;
    else
      outputs.push_back(value);
  }
  if (!ok || outputs.size() != model.graph.outputs.size())
    return failure();
  func::ReturnOp::create(b, b.getUnknownLoc(), outputs);
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     ValueRange(outputs).getTypes()));
  for (auto [i, info] : llvm::enumerate(model.graph.outputs))
    function.setResultAttr(i, "dl.name", b.getStringAttr(StringRef(info.name)));
  return success();
}

} // namespace dlc::onnx
