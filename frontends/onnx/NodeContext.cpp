#include "frontends/onnx/NodeContext.h"

#include "frontends/onnx/GraphImporter.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dlc::onnx {

std::optional<NodeContext::Ints> NodeContext::constantInts(Value v) const {
  if (!v || !isa<IntegerType>(element(v)))
    return std::nullopt;
  auto known = importer.knownInts(v);
  return known;
}

std::optional<SmallVector<double>> NodeContext::constantFloats(Value v) const {
  if (!v || !isa<FloatType>(element(v)))
    return std::nullopt;
  return importer.knownFloats(v);
}

const Attribute *NodeContext::attribute(std::string_view name, AttributeType wanted) {
  const Attribute *found = node.find(name);
  if (!found)
    return nullptr;
  // Old files leave the type out; the filled field then speaks for itself.
  if (found->type != wanted && found->type != kAttrUndefined) {
    attributeError = true;
    (void)invalid("attribute '" + Twine(StringRef(name)) + "' has the wrong type (" +
                  Twine(found->type) + ", expects " + Twine(int(wanted)) + ")");
    return nullptr;
  }
  return found;
}

int64_t NodeContext::intAttr(std::string_view name, int64_t fallback) {
  const Attribute *a = attribute(name, kAttrInt);
  return a ? a->i : fallback;
}
double NodeContext::floatAttr(std::string_view name, double fallback) {
  const Attribute *a = attribute(name, kAttrFloat);
  return a ? a->f : fallback;
}
std::string NodeContext::stringAttr(std::string_view name, std::string_view fallback) {
  const Attribute *a = attribute(name, kAttrString);
  return std::string(a ? a->s : fallback);
}
NodeContext::Ints NodeContext::intsAttr(std::string_view name, Ints fallback) {
  const Attribute *a = attribute(name, kAttrInts);
  return a ? Ints(a->ints.begin(), a->ints.end()) : fallback;
}
SmallVector<double> NodeContext::floatsAttr(std::string_view name) {
  const Attribute *a = attribute(name, kAttrFloats);
  return a ? SmallVector<double>(a->floats.begin(), a->floats.end())
           : SmallVector<double>();
}

FailureOr<int64_t> NodeContext::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)invalid("axis " + Twine(axis) + " is outside the rank " + Twine(rank));
  return failure();
}

FailureOr<NodeContext::Ints> NodeContext::normalizeAxes(ArrayRef<int64_t> axes,
                                                        int64_t rank) {
  Ints result;
  for (int64_t axis : axes) {
    auto normal = normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal)) {
      (void)invalid("axis " + Twine(axis) + " is given twice");
      return failure();
    }
    result.push_back(*normal);
  }
  return result;
}

LogicalResult NodeContext::unsupported(const Twine &what) {
  return importer.report(node, what, /*isUnsupported=*/true);
}
LogicalResult NodeContext::invalid(const Twine &what) {
  return importer.report(node, what, /*isUnsupported=*/false);
}

Value NodeContext::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return dl::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

Value NodeContext::scalar(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  mlir::Attribute attr;
  if (isa<FloatType>(element))
    attr = b.getFloatAttr(element, value);
  else
    attr = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                           uint64_t(int64_t(value)), true, true));
  return dl::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, attr));
}

Value NodeContext::reshape(Value v, ArrayRef<int64_t> shape) {
  return make<dl::ReshapeOp>(v, ints(shape));
}

Value NodeContext::transpose(Value v, ArrayRef<int64_t> permutation) {
  bool isIdentity = true;
  for (auto [i, axis] : llvm::enumerate(permutation))
    isIdentity &= int64_t(i) == axis;
  return isIdentity ? v : make<dl::TransposeOp>(v, array(permutation));
}

Value NodeContext::cast(Value v, Type to) {
  return v && element(v) == to ? v : make<dl::CastOp>(v, TypeAttr::get(to));
}

} // namespace dlc::onnx
