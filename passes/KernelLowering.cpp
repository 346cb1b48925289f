#include "passes/KernelLowering.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dlc {

namespace {

/// Numbers the symbols that a kernel's shapes use, in order of appearance.
class LocalSymbols {
public:
  void add(AffineExpr expr) {
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        if (renumbered.try_emplace(symbol, AffineExpr()).second) {
          renumbered[symbol] =
              getAffineSymbolExpr(sizes.size(), expr.getContext());
          sizes.push_back(symbol);
        }
    });
  }
  AffineExpr local(AffineExpr expr) const { return expr.replace(renumbered); }

  SmallVector<AffineExpr> sizes;

private:
  llvm::DenseMap<AffineExpr, AffineExpr> renumbered;
};

class BlockLowering {
public:
  BlockLowering(Block &block, Location loc, ShapeAnalysis &shapes)
      : block(block), loc(loc), shapes(shapes), b(loc.getContext()) {}

  FailureOr<LoweredKernel> run() {
    collectSymbols();
    createFunction();
    for (Operation &op : block.without_terminator())
      if (failed(lowerOp(&op))) {
        function.erase();
        return failure();
      }
    finish();
    return LoweredKernel{function, symbols.sizes};
  }

private:
  void collectSymbols() {
    auto add = [&](Value value) {
      for (AffineExpr dim : shapes.lookup(value).dims)
        symbols.add(dim);
    };
    llvm::for_each(block.getArguments(), add);
    for (Operation &op : block.without_terminator())
      llvm::for_each(op.getResults(), add);
  }

  RankedTensorType storedType(Value value) {
    RankedTensorType type = dl::toTensorType(shapes.lookup(value));
    return type.clone(dl::storageType(type.getElementType()));
  }

  AffineMapAttr dimsOf(Value value) {
    SmallVector<AffineExpr> dims;
    for (AffineExpr dim : shapes.lookup(value).dims)
      dims.push_back(symbols.local(dim));
    return AffineMapAttr::get(
        AffineMap::get(0, symbols.sizes.size(), dims, b.getContext()));
  }

  void createFunction() {
    SmallVector<Type> inputs, outputs;
    for (BlockArgument arg : block.getArguments())
      inputs.push_back(storedType(arg));
    inputs.append(symbols.sizes.size(), b.getIndexType());
    ValueRange results = block.getTerminator()->getOperands();
    for (Value result : results)
      outputs.push_back(storedType(result));
    function = func::FuncOp::create(loc, "kernel",
                                    b.getFunctionType(inputs, outputs));
    for (BlockArgument arg : block.getArguments())
      function.setArgAttr(arg.getArgNumber(), kDimsAttr, dimsOf(arg));
    for (auto [i, result] : llvm::enumerate(results))
      function.setResultAttr(i, kDimsAttr, dimsOf(result));
    Block *entry = function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    size_t numTensors = block.getNumArguments();
    for (BlockArgument arg : block.getArguments())
      lowered.map(arg, entry->getArgument(arg.getArgNumber()));
    for (size_t i = 0; i < symbols.sizes.size(); ++i)
      sizeValues.push_back(entry->getArgument(numTensors + i));
  }

  OpFoldResult dim(Value value, int64_t axis) {
    AffineExpr expr = shapes.lookup(value).dims[axis];
    if (auto size = dl::constantSize(expr))
      return b.getIndexAttr(*size);
    Value &known = dimValues[symbols.local(expr)];
    if (!known) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.getBody().front());
      if (!sizeCode.empty())
        b.setInsertionPointAfter(sizeCode.back());
      // An affine op, not its arithmetic: that targets can still read it as a size.
      auto size = AffineMap::get(0, sizeValues.size(), symbols.local(expr));
      auto code = affine::AffineApplyOp::create(b, loc, size, sizeValues);
      sizeCode.push_back(code);
      known = code;
    }
    return known;
  }

  /// A constant inside a kernel, in its storage type.
  LogicalResult lowerConstant(Operation *op) {
    DenseElementsAttr elements;
    if (!matchPattern(op, m_Constant(&elements)))
      return op->emitOpError("is too large to live inside a kernel");
    Type element = elements.getElementType();
    Type stored = dl::storageType(element);
    DenseElementsAttr value = elements;
    if (element.isInteger(1))
      value = elements.mapValues(stored, [](const APInt &bit) { return bit.zext(8); });
    else if (stored != element)
      value = elements.mapValues(stored, [](const APInt &bits) { return bits; });
    lowered.map(op->getResult(0), arith::ConstantOp::create(b, op->getLoc(), value));
    return success();
  }

  LogicalResult lowerOp(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return lowerConstant(op);
    auto lowering = dyn_cast<dl::LowersToLinalg>(op);
    if (!lowering)
      return op->emitOpError("has no linalg lowering");
    dl::LinalgLowering l(b, op->getLoc(), lowered,
                         [&](Value v, int64_t axis) { return dim(v, axis); });
    auto values = lowering.lowerToLinalg(l);
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
      RankedTensorType expected = storedType(result);
      if (value.getType() != expected)
        value = tensor::CastOp::create(b, op->getLoc(), expected, value);
      lowered.map(result, value);
    }
    return success();
  }

  void finish() {
    SmallVector<Value> results;
    for (Value result : block.getTerminator()->getOperands())
      results.push_back(lowered.lookup(result));
    func::ReturnOp::create(b, loc, results);
  }

  Block &block;
  Location loc;
  ShapeAnalysis &shapes;
  OpBuilder b;
  func::FuncOp function;
  LocalSymbols symbols;
  IRMapping lowered;
  SmallVector<Value> sizeValues;
  SmallVector<Operation *> sizeCode;
  llvm::DenseMap<AffineExpr, Value> dimValues;
};

} // namespace

FailureOr<LoweredKernel> lowerBlock(Block &block, Location loc,
                                    ShapeAnalysis &shapes) {
  return BlockLowering(block, loc, shapes).run();
}

FailureOr<func::FuncOp> lowerFunction(func::FuncOp function, ShapeAnalysis &shapes) {
  auto lowered = lowerBlock(function.getBody().front(), function.getLoc(), shapes);
  if (failed(lowered))
    return failure();
  return lowered->function;
}

} // namespace dlc
