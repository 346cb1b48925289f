#include "compiler/EpilogueSource.h"

#include "dialects/dl/Dl.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace dlc {

namespace {

Type elementOf(Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); }
bool isF32(Value v) { return elementOf(v).isF32(); }

class EpilogueBuilder {
public:
  EpilogueBuilder(dl::KernelOp kernel, Operation *root, ShapeAnalysis &shapes)
      : kernel(kernel), root(root), shapes(shapes), b(kernel.getContext()) {}

  std::optional<EpilogueSource> run() {
    Block &body = kernel.getBody().front();
    for (Operation &op : body.without_terminator())
      if (&op != root)
        ops.push_back(&op);
    // The type in memory: f16 is computed as f32 too.
    if (!isF32(kernel.getResult(0)) || !collectOperands())
      return std::nullopt;
    SmallVector<Type> inputs(1 + source.operands.size(), b.getF32Type());
    OwningOpRef<func::FuncOp> function = func::FuncOp::create(
        loc, "epilogue", b.getFunctionType(inputs, {b.getF32Type()}));
    Block *entry = function->addEntryBlock();
    b.setInsertionPointToStart(entry);
    mapping.map(root->getResult(0), entry->getArgument(0));
    for (auto [i, value] : llvm::enumerate(source.operands))
      mapping.map(value, entry->getArgument(1 + i));
    if (!llvm::all_of(ops, [&](Operation *op) { return translate(op); }))
      return std::nullopt;
    func::ReturnOp::create(b, loc, mapping.lookup(body.getTerminator()->getOperand(0)));
    llvm::raw_string_ostream os(source.text);
    function->print(os, OpPrintingFlags().useLocalScope());
    return std::move(source);
  }

private:
  bool collectOperands() {
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (isa<BlockArgument>(operand) && !llvm::is_contained(source.operands, operand)) {
          if (!isF32(operand))
            return false;
          source.operands.push_back(operand);
        }
    return true;
  }

  bool translate(Operation *op) {
    DenseElementsAttr constant;
    if (matchPattern(op, m_Constant(&constant))) {
      if (!constant.getElementType().isF32())
        return false;
      auto value = cast<TypedAttr>(constant.getSplatValue<Attribute>());
      mapping.map(op->getResult(0), arith::ConstantOp::create(b, loc, value));
      return true;
    }
    // Other types would have to be rounded between two ops.
    if (!isF32(op->getResult(0)) && !elementOf(op->getResult(0)).isInteger(1))
      return false;
    // Same shape as the root: nothing broadcasts it further.
    if (shapes.lookup(op->getResult(0)).dims != shapes.lookup(root->getResult(0)).dims)
      return false;
    SmallVector<Value> x;
    for (Value operand : op->getOperands())
      x.push_back(mapping.lookup(operand));
    mapping.map(op->getResult(0), cast<dl::Elementwise>(op).buildScalar(b, loc, x));
    return true;
  }

  dl::KernelOp kernel;
  Operation *root;
  ShapeAnalysis &shapes;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  SmallVector<Operation *> ops;
  IRMapping mapping;
  EpilogueSource source;
};

} // namespace

std::optional<EpilogueSource> toEpilogue(dl::KernelOp kernel, Operation *root,
                                         ShapeAnalysis &shapes) {
  return EpilogueBuilder(kernel, root, shapes).run();
}

Operation *findRoot(dl::KernelOp kernel) {
  if (kernel.getNumResults() != 1)
    return nullptr;
  Operation *root = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<dl::Elementwise>(op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (root)
      return nullptr;
    root = &op;
  }
  return root;
}

OwningOpRef<ModuleOp> parseEpilogue(StringRef text, MLIRContext *context) {
  return parseSourceString<ModuleOp>(text, context);
}

AffineExpr LocalSizes::add(AffineExpr expr) {
  if (isa<AffineConstantExpr>(expr))
    return expr;
  auto known = llvm::find(sizes, expr);
  size_t number = known - sizes.begin();
  if (known == sizes.end())
    sizes.push_back(expr);
  return getAffineSymbolExpr(number, context);
}

std::string LocalSizes::mapText(ArrayRef<AffineExpr> exprs) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << AffineMapAttr::get(AffineMap::get(0, sizes.size(), exprs, context));
  return text;
}

SmallVector<AffineExpr> parseMap(StringRef text, MLIRContext *context) {
  AffineMap map = cast<AffineMapAttr>(parseAttribute(text, context)).getValue();
  return SmallVector<AffineExpr>(map.getResults());
}

} // namespace dlc
