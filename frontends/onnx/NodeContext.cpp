#include "frontends/onnx/NodeContext.h"

#include "frontends/onnx/TensorData.h"

#include "dialects/dl/ConstantData.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Slice.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace dlc::onnx {

RankedTensorType NodeContext::missingType() const {
  if (!hasFailed)
    (void)importer.report("an input is missing", /*isUnsupported=*/false);
  hasFailed = true;
  return RankedTensorType::get(SmallVector<int64_t>(8, 1), b.getF32Type());
}

ElementsAttr NodeContext::constantAttr(Value v) const {
  auto constant = v ? v.getDefiningOp<dl::ConstantOp>() : dl::ConstantOp();
  return constant ? constant.getValue() : ElementsAttr();
}

namespace {

/// Lists of numbers that ops take (axes, sizes, scales) are short; longer constants
/// are data.
constexpr int64_t kLongestList = 1 << 20;

int64_t readInteger(const char *at, IntegerType type) {
  bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
  switch (dl::elementBytes(type)) {
  case 1: return isSigned ? int64_t(int8_t(*at)) : int64_t(uint8_t(*at));
  case 2: {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return isSigned ? int64_t(int16_t(value)) : int64_t(value);
  }
  case 4: {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return isSigned ? int64_t(int32_t(value)) : int64_t(value);
  }
  default: {
    int64_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  }
}

double readFloat(const char *at, FloatType type) {
  uint64_t bits = 0;
  memcpy(&bits, at, dl::elementBytes(type));
  llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

const char *attrTypeName(int32_t type) {
  constexpr const char *names[] = {"nothing", "a float", "an int", "a string", "a tensor",
                                   "a graph", "floats", "ints", "strings", "tensors",
                                   "graphs", "a sparse tensor", "sparse tensors", "a type", "types"};
  return type >= 0 && size_t(type) < std::size(names) ? names[type] : "something unknown";
}

} // namespace

std::optional<NodeContext::Ints> NodeContext::constantInts(Value v) const {
  auto type = v ? dyn_cast<IntegerType>(element(v)) : IntegerType();
  if (type && this->type(v).hasStaticShape() && this->type(v).getNumElements() == 0)
    return Ints(); // even of a model input, nothing is to be known
  ElementsAttr value = constantAttr(v);
  if (!type || !value || value.getNumElements() > kLongestList)
    return std::nullopt;
  std::vector<char> storage;
  ArrayRef<char> bytes = dl::constantBytes(value, storage);
  Ints result;
  for (size_t i = 0; i < bytes.size(); i += dl::elementBytes(type))
    result.push_back(readInteger(bytes.data() + i, type));
  return result;
}

std::optional<SmallVector<double>> NodeContext::constantFloats(Value v) const {
  auto type = v ? dyn_cast<FloatType>(element(v)) : FloatType();
  ElementsAttr value = constantAttr(v);
  if (!type || !value || value.getNumElements() > kLongestList)
    return std::nullopt;
  std::vector<char> storage;
  ArrayRef<char> bytes = dl::constantBytes(value, storage);
  SmallVector<double> result;
  for (size_t i = 0; i < bytes.size(); i += dl::elementBytes(type))
    result.push_back(readFloat(bytes.data() + i, type));
  return result;
}

bool NodeContext::has(StringRef name) const {
  return llvm::any_of(node.attrs, [&](const Attr &a) { return a.name == name; });
}

const Attr *NodeContext::find(StringRef name) {
  for (auto [i, attr] : llvm::enumerate(node.attrs))
    if (attr.name == name) {
      wasRead[i] = true;
      return &attr;
    }
  return nullptr;
}

StringRef NodeContext::unreadAttribute() const {
  for (auto [attr, read] : llvm::zip(node.attrs, wasRead))
    if (!read && attr.name != "consumed_inputs") // a hint of the first opsets
      return attr.name;
  return "";
}

const Attr *NodeContext::attribute(StringRef name, Attr::Type wanted) {
  const Attr *found = find(name);
  if (!found || found->type == wanted)
    return found;
  // An empty list does not say of what it is.
  if (found->type == Attr::Undefined && wanted >= Attr::Floats && wanted <= Attr::Strings)
    return found;
  (void)invalid("attribute " + quoted(name) + " is " + attrTypeName(found->type) +
                ", expects " + attrTypeName(wanted));
  return nullptr;
}

int64_t NodeContext::intAttr(StringRef name, int64_t fallback) {
  const Attr *a = attribute(name, Attr::Int);
  return a ? a->i : fallback;
}

double NodeContext::floatAttr(StringRef name, double fallback) {
  const Attr *a = attribute(name, Attr::Float);
  return a ? a->f : fallback;
}

std::string NodeContext::stringAttr(StringRef name, StringRef fallback) {
  const Attr *a = attribute(name, Attr::String);
  return a ? a->s.str() : fallback.str();
}

NodeContext::Ints NodeContext::intsAttr(StringRef name, Ints fallback) {
  const Attr *a = attribute(name, Attr::Ints);
  return a ? Ints(a->ints.begin(), a->ints.end()) : fallback;
}

SmallVector<double> NodeContext::floatsAttr(StringRef name) {
  const Attr *a = attribute(name, Attr::Floats);
  return a ? SmallVector<double>(a->floats.begin(), a->floats.end()) : SmallVector<double>();
}

const Tensor *NodeContext::tensorAttr(StringRef name) {
  const Attr *a = attribute(name, Attr::Tensor);
  return a ? a->t.get() : nullptr;
}

const Graph *NodeContext::graphAttr(StringRef name) {
  const Attr *a = attribute(name, Attr::Graph);
  if (!a && !hasFailed)
    (void)invalid("attribute " + quoted(name) + " is missing");
  return a ? a->g.get() : nullptr;
}

Type NodeContext::elementTypeAttr(StringRef name, Type fallback) {
  const Attr *a = attribute(name, Attr::Int);
  if (!a)
    return fallback;
  bool fits = a->i > 0 && a->i <= INT32_MAX;
  Type type = fits ? onnx::elementType(int32_t(a->i), b.getContext()) : Type();
  if (!type)
    (void)unsupported("attribute " + quoted(name) + " asks for the element type " +
                      (fits ? dataTypeName(int32_t(a->i)) : std::to_string(a->i)));
  return type;
}

FailureOr<int64_t> NodeContext::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  return invalid("axis " + Twine(axis) + " is outside the rank " + Twine(rank));
}

FailureOr<NodeContext::Ints> NodeContext::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  Ints result;
  for (int64_t axis : axes) {
    auto normal = normalizeAxis(axis, rank);
    if (mlir::failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return invalid("axis " + Twine(axis) + " is given twice");
    result.push_back(*normal);
  }
  return result;
}

LogicalResult NodeContext::unsupported(const Twine &what) {
  hasFailed = true;
  return importer.report(what, /*isUnsupported=*/true);
}

LogicalResult NodeContext::invalid(const Twine &what) {
  hasFailed = true;
  return importer.report(what, /*isUnsupported=*/false);
}

SmallVector<Value> NodeContext::finish(Operation *op) {
  SmallVector<Value> results = importer.finish(op, b);
  hasFailed |= llvm::is_contained(results, Value());
  return results;
}

ImportMode NodeContext::mode() const { return importer.mode(); }

void NodeContext::updateWeight(Value old, Value now) { importer.updateWeight(old, now); }

void NodeContext::markStatistic(Value weight) {
  if (Operation *def = weight ? weight.getDefiningOp() : nullptr; def && def->hasAttr("dl.weight"))
    def->setAttr("dl.role", b.getStringAttr("statistic"));
}

Value NodeContext::constant(ElementsAttr value) {
  return dl::ConstantOp::create(b, loc, value.getShapedType(), value);
}

Value NodeContext::tensor(const Tensor &tensor) {
  ElementsAttr value = importer.tensorAttr(tensor, "its value");
  hasFailed |= !value;
  return value ? constant(value) : Value();
}

Value NodeContext::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value NodeContext::scalar(Type element, double value) {
  if (isa<IntegerType>(element) && value != std::trunc(value)) {
    (void)unsupported("the factor " + Twine(std::to_string(value)) + " on integers");
    return {};
  }
  if (isa<IntegerType>(element))
    return intScalar(element, int64_t(value));
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, element),
                                         Attribute(b.getFloatAttr(element, value))));
}

Value NodeContext::intScalar(Type element, int64_t value) {
  llvm::APInt bits(element.getIntOrFloatBitWidth(), uint64_t(value), true, /*implicitTrunc=*/true);
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, element),
                                         Attribute(IntegerAttr::get(element, bits))));
}

Value NodeContext::shapeOf(Value v) { return v ? make<dl::ShapeOfOp>(v) : Value(); }

Value NodeContext::reshape(Value v, ArrayRef<int64_t> shape) { return v ? reshape(v, ints(shape)) : Value(); }

Value NodeContext::reshape(Value v, Value shape) { return make<dl::ReshapeOp>(v, shape); }

Value NodeContext::slice(Value v, int64_t start, int64_t end) {
  auto type = RankedTensorType::get({3, 1}, b.getI64Type());
  Value bounds = constant(DenseElementsAttr::get(type, ArrayRef<int64_t>{start, end - start, 1}));
  return make<dl::SliceOp>(v, bounds);
}

Value NodeContext::extract(Value v, int64_t i) {
  Value part = slice(v, i, i + 1);
  return reshape(part, ArrayRef<int64_t>{});
}

Value NodeContext::transpose(Value v, ArrayRef<int64_t> permutation) {
  bool isIdentity = true;
  for (auto [i, axis] : llvm::enumerate(permutation))
    isIdentity &= int64_t(i) == axis;
  return isIdentity ? v : make<dl::TransposeOp>(v, array(permutation));
}

Value NodeContext::cast(Value v, Type to) {
  return !v || element(v) == to ? v : make<dl::CastOp>(v, TypeAttr::get(to));
}

void NodeContext::declareLike(Value argument, Value like) {
  dl::TensorInfo info = importer.lookup(like);
  info.contents.reset();
  importer.declare(argument, std::move(info));
}

std::optional<SmallVector<Value>> NodeContext::importGraph(const Graph &graph, OpBuilder &at,
                                                           ValueRange arguments) {
  auto results = importer.importGraph(graph, at, arguments, env);
  hasFailed |= !results;
  return results;
}

} // namespace dlc::onnx
