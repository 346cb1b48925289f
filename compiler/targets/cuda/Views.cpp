// Memrefs as pointers with offsets, sizes and strides in C++ text.

#include "compiler/targets/cuda/Printer.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace dlc::cuda {

Extent Printer::constant(int64_t value) {
  std::string text = std::to_string(value);
  if (value > INT32_MAX || value < INT32_MIN)
    text += "LL";
  return {text, getAffineConstantExpr(value, context)};
}

static std::optional<int64_t> constantOf(const Extent &extent) {
  if (auto constant = dyn_cast_or_null<AffineConstantExpr>(extent.expr))
    return constant.getValue();
  return std::nullopt;
}

Extent Printer::times(const Extent &a, const Extent &b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y)
    return constant(*x * *y);
  if (x == 0 || y == 0)
    return constant(0);
  if (x == 1)
    return b;
  if (y == 1)
    return a;
  // A product of two symbols is no affine expression in MLIR's eyes, but it is one
  // in the artifact's: AffineExpr builds it, and only its printing differs.
  return {"(" + a.text + " * " + b.text + ")", a.expr && b.expr ? a.expr * b.expr : AffineExpr()};
}

Extent Printer::plus(const Extent &a, const Extent &b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y)
    return constant(*x + *y);
  if (x == 0)
    return b;
  if (y == 0)
    return a;
  return {"(" + a.text + " + " + b.text + ")", a.expr && b.expr ? a.expr + b.expr : AffineExpr()};
}

/// The index as an expression over the kernel's size arguments, where it is one.
AffineExpr Printer::sizeExpr(Value value) {
  auto known = exprs.find(value);
  if (known != exprs.end())
    return known->second;
  AffineExpr result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &function.getBody().front()) {
      unsigned symbol = 0;
      for (unsigned i = 0; i < argument.getArgNumber(); ++i)
        symbol += !isa<MemRefType>(function.getArgument(i).getType());
      result = getAffineSymbolExpr(symbol, context);
    }
    return exprs[value] = result;
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return sizeExpr(op->getOperand(i)); };
  auto positive = [&](unsigned i) {
    auto c = dyn_cast_or_null<AffineConstantExpr>(operand(i));
    return c && c.getValue() > 0;
  };
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    result = getAffineConstantExpr(number.getSExtValue(), context);
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    if (auto axis = dim.getConstantIndex())
      result = view(dim.getSource()).sizes[*axis].expr;
  } else if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    AffineExpr a = operand(0), b = operand(1);
    if (a && b)
      result = isa<arith::AddIOp>(op) ? a + b : isa<arith::SubIOp>(op) ? a - b : a * b;
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> values;
    for (Value value : apply.getMapOperands())
      values.push_back(sizeExpr(value));
    unsigned numDims = apply.getAffineMap().getNumDims();
    if (!llvm::is_contained(values, AffineExpr()))
      result = apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
          ArrayRef(values).take_front(numDims), ArrayRef(values).drop_front(numDims));
  } else if (isa<arith::CeilDivSIOp, arith::FloorDivSIOp, arith::CeilDivUIOp>(op) && positive(1) &&
             operand(0)) {
    result = isa<arith::FloorDivSIOp>(op) ? operand(0).floorDiv(operand(1))
                                          : operand(0).ceilDiv(operand(1));
  }
  return exprs[value] = result;
}

Extent Printer::extent(OpFoldResult value) {
  if (auto number = getConstantIntValue(value))
    return constant(*number);
  Value v = cast<Value>(value);
  AffineExpr expr = sizeExpr(v);
  return {expr ? sizeText(expr) : name(v), expr};
}

std::string Printer::sizeName(Value argument) {
  unsigned parameter = parameters.find(argument)->second;
  used[parameter] = true;
  return "s" + std::to_string(parameter);
}

/// An expression over the kernel's size arguments.
std::string Printer::sizeText(AffineExpr expr) {
  SmallVector<std::string> symbols;
  for (BlockArgument argument : function.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      symbols.push_back(expr.isFunctionOfSymbol(symbols.size()) ? sizeName(argument) : "");
  return affineText(expr, {}, symbols);
}

View Printer::makeDense(std::string pointer, Type element, SmallVector<Extent> sizes) {
  View result{std::move(pointer), constant(0), std::move(sizes), {}, element, -1};
  result.strides.resize(result.sizes.size());
  Extent stride = constant(1);
  for (size_t axis = result.sizes.size(); axis-- > 0;) {
    result.strides[axis] = stride;
    stride = times(stride, result.sizes[axis]);
  }
  return result;
}

/// A parameter of the launch: an argument of the kernel or one of its temporaries.
View Printer::makeRoot(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  unsigned parameter = parameters.find(memref)->second;
  SmallVector<Extent> sizes;
  std::string pointer;
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    pointer = "b" + std::to_string(parameter);
    auto dims = function.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), "dl.dims");
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis)) {
        sizes.push_back(constant(type.getDimSize(axis)));
        continue;
      }
      AffineExpr expr = dims.getValue().getResult(axis);
      sizes.push_back({sizeText(expr), expr});
    }
  } else {
    pointer = "t" + std::to_string(parameter);
    auto alloc = memref.getDefiningOp<memref::AllocOp>();
    unsigned dynamic = 0;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? extent(alloc.getDynamicSizes()[dynamic++])
                                                  : constant(size));
  }
  return makeDense(pointer, type.getElementType(), std::move(sizes));
}

/// The sizes are what was stored in the shape operand.
View Printer::viewOfReshape(memref::ReshapeOp op) {
  const View &source = view(op.getSource());
  auto type = cast<MemRefType>(op.getType());
  SmallVector<Extent> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      sizes.push_back(constant(type.getDimSize(axis)));
      continue;
    }
    Value stored;
    for (Operation *user : op.getShape().getUsers())
      if (auto store = dyn_cast<memref::StoreOp>(user))
        if (store.getIndices().size() == 1 && getConstantIntValue(store.getIndices()[0]) == axis)
          stored = store.getValueToStore();
    if (!stored) {
      problem = op;
      stored = op.getSource();
      return source;
    }
    sizes.push_back(extent(stored));
  }
  View result = makeDense(source.pointer, source.element, std::move(sizes));
  result.offset = source.offset;
  return result;
}

View Printer::viewOfSubview(memref::SubViewOp op) {
  const View source = view(op.getSource());
  View result{source.pointer, source.offset, {}, {}, source.element, -1};
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(),
                            strides = op.getMixedStrides();
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    result.offset = plus(result.offset, times(extent(offsets[axis]), source.strides[axis]));
    if (dropped.test(axis))
      continue;
    result.sizes.push_back(extent(sizes[axis]));
    result.strides.push_back(times(extent(strides[axis]), source.strides[axis]));
  }
  return result;
}

View Printer::viewOfExpand(memref::ExpandShapeOp op) {
  const View source = view(op.getSrc());
  View result{source.pointer, source.offset, {}, {}, source.element, -1};
  for (OpFoldResult size : op.getMixedOutputShape())
    result.sizes.push_back(extent(size));
  result.strides.resize(result.sizes.size());
  for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
    Extent stride = source.strides[axis];
    for (int64_t inner : llvm::reverse(group)) {
      result.strides[inner] = stride;
      stride = times(stride, result.sizes[inner]);
    }
  }
  return result;
}

View Printer::viewOfCollapse(memref::CollapseShapeOp op) {
  const View source = view(op.getSrc());
  View result{source.pointer, source.offset, {}, {}, source.element, -1};
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Extent size = constant(1), stride = constant(1);
    for (int64_t axis : group) {
      size = times(size, source.sizes[axis]);
      // The innermost axis that is not a single element sets the step.
      if (constantOf(source.sizes[axis]) != 1 || axis == group.front())
        stride = source.strides[axis];
    }
    result.sizes.push_back(size);
    result.strides.push_back(stride);
  }
  return result;
}

View Printer::viewOfPadded(kernel::PaddedOp op) {
  View result = view(op.getSource());
  result.border = literal(op.getValue());
  for (auto [axis, size] : llvm::enumerate(result.sizes)) {
    result.padding.push_back({op.getLow()[axis], size});
    size = plus(size, constant(op.getLow()[axis] + op.getHigh()[axis]));
  }
  return result;
}

View Printer::viewOfGlobal(memref::GetGlobalOp op) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, op.getNameAttr());
  auto type = cast<MemRefType>(op.getType());
  auto values = dyn_cast_or_null<DenseElementsAttr>(global.getConstantInitValue());
  SmallVector<Extent> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(constant(size));
  if (!values)
    problem = op;
  std::string table = launch + "_" + fresh("table");
  globals += "static __device__ const " + typeName(type.getElementType()) + " " + table + "[" +
             std::to_string(std::max<int64_t>(1, type.getNumElements())) + "] = {";
  if (values)
    for (auto [i, value] : llvm::enumerate(values.getValues<Attribute>()))
      globals += (i ? ", " : "") + literal(cast<TypedAttr>(value));
  globals += "};\n";
  return makeDense(table, type.getElementType(), std::move(sizes));
}

View Printer::makeView(Value memref) {
  if (parameters.contains(memref))
    return makeRoot(memref);
  Operation *op = memref.getDefiningOp();
  auto viewOf = dyn_cast_or_null<ViewLikeOpInterface>(op);
  if (viewOf && !view(viewOf.getViewSource()).padding.empty())
    problem = op; // which part of it would lie in the border is not known
  if (auto padded = dyn_cast_or_null<kernel::PaddedOp>(op))
    return viewOfPadded(padded);
  if (auto cast = dyn_cast_or_null<memref::CastOp>(op))
    return view(cast.getSource());
  if (auto reshape = dyn_cast_or_null<memref::ReshapeOp>(op))
    return viewOfReshape(reshape);
  if (auto slice = dyn_cast_or_null<memref::SubViewOp>(op))
    return viewOfSubview(slice);
  if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(op))
    return viewOfExpand(expand);
  if (auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(op))
    return viewOfCollapse(collapse);
  if (auto global = dyn_cast_or_null<memref::GetGlobalOp>(op))
    return viewOfGlobal(global);
  if (auto raw = dyn_cast_or_null<memref::ViewOp>(op)) {
    const View source = view(raw.getSource());
    auto type = cast<MemRefType>(raw.getType());
    SmallVector<Extent> sizes;
    unsigned dynamic = 0;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? extent(raw.getSizes()[dynamic++])
                                                  : constant(size));
    std::string bytes = plus(source.offset, extent(raw.getByteShift())).text;
    return makeDense("((" + typeName(type.getElementType()) + " *)(" + source.pointer + " + " +
                         bytes + "))",
                     type.getElementType(), std::move(sizes));
  }
  problem = op ? op : function.getOperation();
  auto type = cast<MemRefType>(memref.getType());
  return makeDense("nullptr", type.getElementType(),
                   SmallVector<Extent>(type.getRank(), constant(0)));
}

const View &Printer::view(Value memref) {
  auto known = views.find(memref);
  if (known != views.end())
    return *known->second;
  auto made = std::make_unique<View>(makeView(memref));
  if (auto found = parameters.find(rootOf(memref)); found != parameters.end())
    made->parameter = found->second;
  (void)count(*made);
  // Offsets lie inside the buffer that they are of.
  for (const Extent &stride : made->strides)
    note(stride);
  return *(views[memref] = std::move(made));
}

AffineExpr Printer::bytesOf(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  int64_t elementBytes =
      type.getElementType().isIndex() ? 8 : (type.getElementTypeBitWidth() + 7) / 8;
  AffineExpr bytes = getAffineConstantExpr(elementBytes, context);
  unsigned dynamic = 0;
  for (int64_t size : type.getShape()) {
    AffineExpr expr = ShapedType::isDynamic(size) ? sizeExpr(alloc.getDynamicSizes()[dynamic++])
                                                  : getAffineConstantExpr(size, context);
    if (!expr)
      return {};
    bytes = bytes * expr;
  }
  return bytes;
}

bool Printer::isDense(const View &view) {
  if (!view.padding.empty())
    return false;
  Extent stride = constant(1);
  for (size_t axis = view.sizes.size(); axis-- > 0;) {
    if (view.strides[axis].text != stride.text && constantOf(view.sizes[axis]) != 1)
      return false;
    stride = times(stride, view.sizes[axis]);
  }
  return true;
}

Extent Printer::count(const View &view) {
  Extent total = constant(1);
  for (const Extent &size : view.sizes) {
    note(size);
    total = times(total, size);
  }
  note(total);
  return total;
}

/// Asks first whether the element lies in the border.
std::string Printer::paddedElement(const View &view, ArrayRef<std::string> indices) {
  View inner = view;
  inner.padding.clear();
  std::string inside;
  SmallVector<std::string> shifted(indices);
  for (auto [i, padding, size] : llvm::zip_equal(shifted, view.padding, view.sizes)) {
    if (padding.inner.text == size.text)
      continue;
    std::string low = std::to_string(padding.low), at = fresh("at");
    line("const " + index() + " " + at + " = " + i + (padding.low ? " - " + low : "") + ";");
    i = at;
    inside += (inside.empty() ? "" : " && ") + at + " >= 0 && " + at + " < " + padding.inner.text;
  }
  std::string place = element(inner, shifted);
  return inside.empty() ? place : "(" + inside + " ? " + place + " : " + view.border + ")";
}

std::string Printer::element(const View &view, ArrayRef<std::string> indices) {
  if (!view.padding.empty())
    return paddedElement(view, indices);
  if (view.parameter >= 0)
    used[view.parameter] = true;
  Extent at = view.offset;
  for (auto [index, stride, size] : llvm::zip_equal(indices, view.strides, view.sizes)) {
    Extent i = index == "0" ? constant(0) : Extent{index, {}};
    at = plus(at, times(i, stride));
  }
  StringRef text = at.text;
  // The outer parentheses of "p[(i + j)]" say nothing.
  if (text.starts_with("(") && text.ends_with(")")) {
    int depth = 0;
    bool wraps = true;
    for (size_t c = 0; c + 1 < text.size(); ++c) {
      depth += text[c] == '(' ? 1 : text[c] == ')' ? -1 : 0;
      wraps &= depth > 0;
    }
    if (wraps)
      text = text.drop_front().drop_back();
  }
  return view.pointer + "[" + text.str() + "]";
}

} // namespace dlc::cuda
