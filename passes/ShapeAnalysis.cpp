#include "passes/ShapeAnalysis.h"

#include "dialects/dl/Dl.h"
#include "dialects/dl/ops/Control.h"
#include "dialects/dl/ops/Structure.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dlc {

AffineExpr ShapeAnalysis::addSymbol(DimSymbol symbol) {
  symbolTable.push_back(std::move(symbol));
  return getAffineSymbolExpr(symbolTable.size() - 1, context);
}

AffineExpr ShapeAnalysis::unknown() {
  DimSymbol symbol;
  symbol.name = "?" + std::to_string(symbolTable.size());
  return addSymbol(std::move(symbol));
}

AffineExpr ShapeAnalysis::fromData(Value tensor, int64_t index) {
  if (Value outer = kernelOperands.lookup(tensor))
    tensor = outer;
  auto [it, isNew] = dataSymbols.try_emplace({tensor, index});
  if (isNew) {
    DimSymbol symbol;
    symbol.name = "?" + std::to_string(symbolTable.size());
    symbol.kind = DimSymbol::Data;
    symbol.tensor = tensor;
    symbol.index = index;
    it->second = addSymbol(std::move(symbol));
  }
  return it->second;
}

void ShapeAnalysis::constrain(AffineExpr left, AffineExpr right, Operation *op) {
  for (const DimConstraint &known : constraintList)
    if (known.left == left && known.right == right)
      return;
  constraintList.push_back({left, right, op});
}

AffineExpr ShapeAnalysis::named(StringRef name, DictionaryAttr bounds) {
  auto [it, isNew] = namedSymbols.try_emplace(name);
  if (!isNew)
    return it->second;
  DimSymbol symbol;
  symbol.name = name.str();
  symbol.kind = DimSymbol::Input;
  if (auto range = bounds ? bounds.getAs<ArrayAttr>(name) : ArrayAttr()) {
    symbol.lower = cast<IntegerAttr>(range[0]).getInt();
    symbol.upper = cast<IntegerAttr>(range[1]).getInt();
  }
  return it->second = addSymbol(std::move(symbol));
}

void ShapeAnalysis::visitArguments(func::FuncOp function) {
  auto bounds = function->getAttrOfType<DictionaryAttr>(kSymbolBoundsAttr);
  for (BlockArgument arg : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    auto names = function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), kDimsAttr);
    dl::TensorInfo info;
    info.element = type.getElementType();
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        info.dims.push_back(getAffineConstantExpr(size, context));
        continue;
      }
      auto name = names ? dyn_cast<StringAttr>(names[axis]) : StringAttr();
      std::string text = name ? name.str()
                              : "arg" + std::to_string(arg.getArgNumber()) +
                                    "." + std::to_string(axis);
      info.dims.push_back(named(text, bounds));
    }
    infos[arg] = std::move(info);
  }
}

dl::TensorInfo ShapeAnalysis::lookup(Value value) {
  auto it = infos.find(value);
  if (it != infos.end())
    return it->second;
  // Values of foreign ops and of region arguments: what the type says.
  dl::TensorInfo info;
  auto type = cast<RankedTensorType>(value.getType());
  info.element = type.getElementType();
  for (int64_t size : type.getShape())
    info.dims.push_back(ShapedType::isDynamic(size)
                            ? unknown()
                            : getAffineConstantExpr(size, context));
  return infos[value] = info;
}

LogicalResult ShapeAnalysis::visitOp(Operation *op) {
  if (auto kernel = dyn_cast<dl::KernelOp>(op)) {
    Block &body = kernel.getBody().front();
    for (auto [arg, operand] : llvm::zip(body.getArguments(), kernel.getInputs())) {
      infos[arg] = lookup(operand);
      kernelOperands[arg] = operand;
    }
    if (failed(visitBlock(body)))
      return failure();
    for (auto [result, value] :
         llvm::zip(kernel.getOutputs(), body.getTerminator()->getOperands()))
      infos[result] = lookup(value);
    return success();
  }
  // Carried values keep the shape they begin with: LoopOp checks that.
  if (auto loop = dyn_cast<dl::LoopOp>(op))
    for (auto [i, initial] : llvm::enumerate(loop.getInitial())) {
      dl::TensorInfo info = lookup(initial);
      info.contents.reset();
      infos[loop.carriedArg(i)] = std::move(info);
    }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(visitBlock(block)))
        return failure();
  auto infer = dyn_cast<dl::InferType>(op);
  if (!infer)
    return success();
  dl::InferContext c(op, *this);
  if (failed(infer.inferTypes(c)))
    return failure();
  for (auto [result, info] : llvm::zip(op->getResults(), c.results))
    infos[result] = info;
  if (op->hasTrait<OpTrait::ConstantLike>())
    infos[op->getResult(0)].contents = dl::constantContents(op->getResult(0));
  return success();
}

LogicalResult ShapeAnalysis::visitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(visitOp(&op)))
      return failure();
  return success();
}

std::unique_ptr<ShapeAnalysis> ShapeAnalysis::run(func::FuncOp function) {
  std::unique_ptr<ShapeAnalysis> analysis(
      new ShapeAnalysis(function.getContext()));
  analysis->visitArguments(function);
  for (Block &block : function.getBody())
    if (failed(analysis->visitBlock(block)))
      return nullptr;
  return analysis;
}

} // namespace dlc
