// Shape inference shared by all ops, and its three users: builders, the
// verifier, and (through DimScope) whole-program analysis.

#include "dialects/dl/Dl.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dlc::dl {

std::optional<int64_t> constantSize(AffineExpr expr) {
  if (auto constant = dyn_cast_or_null<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

AffineExpr product(ArrayRef<AffineExpr> dims, MLIRContext *context) {
  AffineExpr result = getAffineConstantExpr(1, context);
  for (AffineExpr dim : dims)
    result = result * dim;
  return result;
}

RankedTensorType toTensorType(const TensorInfo &info) {
  SmallVector<int64_t> shape;
  for (AffineExpr dim : info.dims)
    shape.push_back(constantSize(dim).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, info.element);
}

std::optional<SmallVector<AffineExpr>> constantContents(Value value) {
  DenseElementsAttr elements;
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || !isa<IntegerType>(type.getElementType()) ||
      type.getNumElements() > kMaxTrackedElements ||
      !matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  bool isUnsigned = type.getElementType().isUnsignedInteger() ||
                    type.getElementType().isInteger(1);
  SmallVector<AffineExpr> contents;
  for (const APInt &element : elements.getValues<APInt>())
    contents.push_back(getAffineConstantExpr(
        isUnsigned ? int64_t(element.getZExtValue()) : element.getSExtValue(),
        value.getContext()));
  return contents;
}

namespace {

/// Chains of shape arithmetic are followed this far from an op.
constexpr int kMaxChain = 32;

/// Knows operands by their types and by the ops that compute small integer
/// tensors: every `?` is a symbol of its own.
class LocalScope : public DimScope {
public:
  explicit LocalScope(MLIRContext *context) : context(context) {}

  TensorInfo lookup(Value value) override {
    auto it = infos.find(value);
    if (it != infos.end())
      return it->second;
    TensorInfo info;
    auto type = cast<RankedTensorType>(value.getType());
    info.element = type.getElementType();
    for (int64_t size : type.getShape())
      info.dims.push_back(ShapedType::isDynamic(size)
                              ? unknown()
                              : getAffineConstantExpr(size, context));
    info.contents = constantContents(value);
    if (!info.contents)
      info.contents = computedContents(value);
    infos[value] = info;
    return info;
  }
  AffineExpr unknown() override {
    return getAffineSymbolExpr(numSymbols++, context);
  }
  AffineExpr fromData(Value, int64_t) override { return unknown(); }
  void constrain(AffineExpr, AffineExpr, Operation *) override {}

private:
  std::optional<SmallVector<AffineExpr>> computedContents(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    auto op = value.getDefiningOp<InferType>();
    if (!op || op->hasTrait<OpTrait::ConstantLike>() || depth >= kMaxChain ||
        !isa<IntegerType>(type.getElementType()) || !type.hasStaticShape() ||
        type.getNumElements() > kMaxTrackedElements)
      return std::nullopt;
    ++depth;
    InferContext c(op, *this);
    LogicalResult done = op.inferTypes(c);
    --depth;
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (failed(done) || number >= c.results.size())
      return std::nullopt;
    return c.results[number].contents;
  }

  MLIRContext *context;
  llvm::DenseMap<Value, TensorInfo> infos;
  unsigned numSymbols = 0;
  int depth = 0;
};

/// Counts down one per step of `expr`; false once `left` is used up. An expression
/// is a graph that work on it walks as a tree, so no tree may grow without bound.
bool fitsSteps(AffineExpr expr, int64_t &left) {
  if (--left < 0)
    return false;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (fitsSteps(binary.getLHS(), left) && fitsSteps(binary.getRHS(), left));
}

LogicalResult checkResults(Operation *op, const InferContext &c) {
  if (c.results.size() != op->getNumResults())
    return op->emitOpError("infers ")
           << c.results.size() << " results but has " << op->getNumResults();
  for (const TensorInfo &info : c.results)
    for (auto [axis, dim] : llvm::enumerate(info.dims))
      if (auto size = constantSize(dim); size && *size < 0)
        return op->emitOpError("result has the size ")
               << *size << " along axis " << axis;
  for (const TensorInfo &info : c.results) {
    auto tooLong = [](AffineExpr size) {
      int64_t left = kMostSizeSteps;
      return size && !fitsSteps(size, left);
    };
    if (llvm::any_of(info.dims, tooLong) || (info.contents && llvm::any_of(*info.contents, tooLong)))
      return op->emitOpError("unsupported: a size is an expression of more than ")
             << kMostSizeSteps << " steps of its inputs' sizes; fix some with --dim";
  }
  return success();
}

} // namespace

AffineExpr InferContext::element(Value tensor, int64_t index) {
  TensorInfo info = of(tensor);
  if (info.contents && index < int64_t(info.contents->size()) &&
      (*info.contents)[index])
    return (*info.contents)[index];
  return scope.fromData(tensor, index);
}

FailureOr<AffineExpr> InferContext::equal(AffineExpr a, AffineExpr b,
                                          const Twine &what) {
  if (a == b)
    return a;
  auto sizeA = constantSize(a), sizeB = constantSize(b);
  if (sizeA && sizeB) {
    error() << what << ": " << *sizeA << " and " << *sizeB << " differ";
    return failure();
  }
  scope.constrain(a, b, op);
  return sizeA ? a : b;
}

FailureOr<Shape> InferContext::broadcast(ArrayRef<Shape> shapes) {
  size_t rank = 0;
  for (const Shape &shape : shapes)
    rank = std::max(rank, shape.size());
  Shape result(rank, constant(1));
  for (const Shape &shape : shapes) {
    for (auto [axis, dim] : llvm::enumerate(shape)) {
      AffineExpr &common = result[rank - shape.size() + axis];
      if (constantSize(dim) == 1)
        continue;
      if (constantSize(common) == 1) {
        common = dim;
        continue;
      }
      auto agreed = equal(common, dim, "operands do not broadcast");
      if (failed(agreed))
        return failure();
      common = *agreed;
    }
  }
  return result;
}

namespace {

/// Applies Elementwise::buildDim to every element of tracked operands.
std::optional<SmallVector<AffineExpr>>
inferElementwiseContents(Elementwise op, ArrayRef<TensorInfo> operands,
                         const Shape &dims) {
  int64_t count = 1;
  for (AffineExpr dim : dims) {
    auto size = constantSize(dim);
    if (!size || (count *= *size) > kMaxTrackedElements)
      return std::nullopt;
  }
  for (const TensorInfo &info : operands)
    if (!info.contents || (int64_t(info.contents->size()) != count &&
                           info.contents->size() != 1))
      return std::nullopt;
  SmallVector<AffineExpr> contents;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<AffineExpr> x;
    for (const TensorInfo &info : operands)
      x.push_back((*info.contents)[info.contents->size() == 1 ? 0 : i]);
    contents.push_back(llvm::is_contained(x, AffineExpr()) ? AffineExpr()
                                                           : op.buildDim(x));
  }
  return contents;
}

} // namespace

LogicalResult inferElementwise(Operation *op, InferContext &c) {
  SmallVector<TensorInfo> operands;
  SmallVector<Shape> shapes;
  for (Value operand : op->getOperands()) {
    operands.push_back(c.of(operand));
    shapes.push_back(operands.back().dims);
    if (operands.back().element != operands.front().element)
      return c.error() << "operands have the element types "
                       << operands.front().element << " and "
                       << operands.back().element;
  }
  auto dims = c.broadcast(shapes);
  if (failed(dims))
    return failure();
  std::optional<SmallVector<AffineExpr>> contents;
  if (auto elementwise = dyn_cast<Elementwise>(op);
      elementwise && isa<IntegerType>(operands.front().element))
    contents = inferElementwiseContents(elementwise, operands, *dims);
  c.addResult(*dims, operands.front().element, std::move(contents));
  return success();
}

LogicalResult refineResultTypes(Operation *op, DimScope &scope,
                                SmallVector<TensorInfo> &results) {
  InferContext c(op, scope);
  if (failed(cast<InferType>(op).inferTypes(c)) || failed(checkResults(op, c)))
    return failure();
  for (auto [result, info] : llvm::zip(op->getResults(), c.results))
    result.setType(toTensorType(info));
  results = std::move(c.results);
  return success();
}

LogicalResult refineResultTypes(Operation *op) {
  LocalScope scope(op->getContext());
  SmallVector<TensorInfo> results;
  return refineResultTypes(op, scope, results);
}

LogicalResult verifyInferredTypes(Operation *op) {
  LocalScope scope(op->getContext());
  InferContext c(op, scope);
  if (failed(cast<InferType>(op).inferTypes(c)) || failed(checkResults(op, c)))
    return failure();
  for (auto [result, info] : llvm::zip(op->getResults(), c.results)) {
    auto declared = cast<RankedTensorType>(result.getType());
    RankedTensorType inferred = toTensorType(info);
    if (declared.getElementType() != inferred.getElementType() ||
        failed(verifyCompatibleShape(declared, inferred)))
      return op->emitOpError("has the result type ")
             << declared << " but infers " << inferred;
  }
  return success();
}

} // namespace dlc::dl
