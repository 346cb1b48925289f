// Statements: scalar code, stores, copies and structured control flow.

#include "compiler/targets/cuda/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dlc::cuda {

void Printer::line(const Twine &text) {
  body.append(2 * indent, ' ');
  body += text.str() + "\n";
}

void Printer::open(const Twine &text) {
  line(text + " {");
  ++indent;
}

void Printer::close() {
  --indent;
  line("}");
}

std::string Printer::fresh(StringRef stem) {
  assert(stem != "i" && stem != "u" && stem != "b" && "i64 is a type, b0 a buffer");
  return stem.str() + std::to_string(counter++);
}

std::string Printer::declare(Value value, const Twine &initial) {
  std::string variable = fresh("v");
  line("const " + typeName(value.getType()) + " " + variable + " = " + initial + ";");
  return names[value] = variable;
}

SmallVector<unsigned> Printer::usedParameters() const {
  SmallVector<unsigned> result;
  for (unsigned i = 0; i < used.size(); ++i)
    if (used[i])
      result.push_back(i);
  return result;
}

std::string Printer::parameterDeclaration(unsigned parameter) const {
  Value value = (parameters.begin() + parameter)->first;
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return index() + " s" + std::to_string(parameter);
  return typeName(type.getElementType()) + " *" + (isa<BlockArgument>(value) ? "b" : "t") +
         std::to_string(parameter);
}

/// Blocks wait for their threads between writes; a grid and a single thread have
/// nobody to wait for.
void Printer::barrier(Scope scope) {
  if (scope == Scope::Block)
    line("__syncthreads();");
}

void Printer::openThreadLoop(Scope scope, const Extent &count) {
  switch (scope) {
  case Scope::Grid:
    return open("for (" + index() + " t = blockIdx.x * (" + index() +
                ")blockDim.x + threadIdx.x; t < " + count.text + "; t += gridDim.x * (" + index() +
                ")blockDim.x)");
  case Scope::Block:
    return open("for (" + index() + " t = threadIdx.x; t < " + count.text + "; t += blockDim.x)");
  case Scope::Thread:
    return open("for (" + index() + " t = 0; t < " + count.text + "; ++t)");
  }
}

LogicalResult Printer::printStore(memref::StoreOp op, Scope scope) {
  SmallVector<std::string> indices;
  for (Value i : op.getIndices())
    indices.push_back(name(i));
  const View &target = view(op.getMemref());
  std::string place = element(target, indices);
  barrier(scope);
  line((scope == Scope::Thread ? "" : "if (threadIdx.x == 0) ") +
       place + " = " + name(op.getValueToStore()) + ";");
  barrier(scope);
  return success();
}

LogicalResult Printer::printCopy(memref::CopyOp op, Scope scope) {
  const View &source = view(op.getSource()), &target = view(op.getTarget());
  Extent total = count(target);
  if (scope == Scope::Grid)
    work = total.expr;
  barrier(scope);
  openThreadLoop(scope, total);
  std::string from, to;
  if (isDense(source) && isDense(target)) {
    auto flat = [&](const View &view) {
      if (view.parameter >= 0)
        used[view.parameter] = true;
      return view.pointer + "[" + (view.offset.text == "0" ? "" : view.offset.text + " + ") + "t]";
    };
    from = flat(source);
    to = flat(target);
  } else {
    SmallVector<std::string> indices(target.sizes.size());
    line(index() + " rest = t;");
    for (size_t axis = indices.size(); axis-- > 0;) {
      indices[axis] = fresh("x");
      line("const " + index() + " " + indices[axis] + " = rest % " + target.sizes[axis].text + ";");
      line("rest /= " + target.sizes[axis].text + ";");
    }
    from = element(source, indices);
    to = element(target, indices);
  }
  line(to + " = " + from + ";");
  close();
  barrier(scope);
  return success();
}

void Printer::declareResults(Operation *op) {
  for (Value result : op->getResults()) {
    if (isa<MemRefType>(result.getType()))
      continue;
    names[result] = fresh("v");
    line(typeName(result.getType()) + " " + names[result] + ";");
  }
}

/// targets = values, as if all at once.
LogicalResult Printer::assign(ValueRange targets, ValueRange values) {
  SmallVector<std::pair<std::string, std::string>> pairs;
  for (auto [target, value] : llvm::zip_equal(targets, values)) {
    if (!isa<MemRefType>(target.getType())) {
      if (names.lookup(target) != name(value))
        pairs.push_back({names.lookup(target), name(value)});
      continue;
    }
    const View &to = view(target), &from = view(value);
    if (to.pointer == from.pointer && to.offset.text == from.offset.text)
      continue;
    for (auto [a, b] : llvm::zip(to.sizes, from.sizes))
      if (a.text != b.text)
        return emitError(value.getLoc(), "cannot be printed as CUDA: a buffer that changes its shape");
    for (auto [a, b] : llvm::zip(to.strides, from.strides))
      if (a.text != b.text)
        return emitError(value.getLoc(), "cannot be printed as CUDA: a buffer that changes its layout");
    pairs.push_back({to.pointer, "&" + element({from.pointer, from.offset, {}, {}, from.element, from.parameter}, {})});
  }
  if (pairs.size() == 1) {
    line(pairs[0].first + " = " + pairs[0].second + ";");
    return success();
  }
  SmallVector<std::string> held;
  for (auto &[target, value] : pairs) {
    held.push_back(fresh("next"));
    line("const auto " + held.back() + " = " + value + ";");
  }
  for (auto [pair, value] : llvm::zip(pairs, held))
    line(pair.first + " = " + value + ";");
  return success();
}

LogicalResult Printer::printFor(scf::ForOp op, Scope scope) {
  for (auto [state, result, initial] :
       llvm::zip(op.getRegionIterArgs(), op.getResults(), op.getInitArgs())) {
    if (isa<MemRefType>(state.getType())) {
      View v = view(initial);
      std::string pointer = fresh("m");
      line(typeName(v.element) + " *" + pointer + " = &" +
           element({v.pointer, v.offset, {}, {}, v.element, v.parameter}, {}) + ";");
      v.pointer = pointer;
      v.offset = constant(0);
      views[state] = std::make_unique<View>(v);
      views[result] = std::make_unique<View>(v);
      continue;
    }
    std::string variable = fresh("v");
    line(typeName(state.getType()) + " " + variable + " = " + name(initial) + ";");
    names[state] = names[result] = variable;
  }
  std::string variable = fresh("x");
  names[op.getInductionVar()] = variable;
  std::string lower = name(op.getLowerBound()), upper = name(op.getUpperBound()),
              step = name(op.getStep());
  std::string type = typeName(op.getInductionVar().getType());
  open("for (" + type + " " + variable + " = " + lower + "; " + variable + " < " + upper + "; " +
       variable + " += " + step + ")");
  if (failed(printOps(*op.getBody(), scope)) ||
      failed(assign(op.getRegionIterArgs(), op.getBody()->getTerminator()->getOperands())))
    return failure();
  close();
  return success();
}

LogicalResult Printer::printIf(scf::IfOp op, Scope scope) {
  for (Value result : op.getResults())
    if (isa<MemRefType>(result.getType()))
      return op.emitError("cannot be printed as CUDA: a choice of buffers");
  declareResults(op);
  open("if (" + name(op.getCondition()) + ")");
  if (failed(printOps(*op.thenBlock(), scope)) ||
      failed(assign(op.getResults(), op.thenYield().getOperands())))
    return failure();
  close();
  if (!op.elseBlock())
    return success();
  open("else");
  if (failed(printOps(*op.elseBlock(), scope)) ||
      failed(assign(op.getResults(), op.elseYield().getOperands())))
    return failure();
  close();
  return success();
}

LogicalResult Printer::printWhile(scf::WhileOp op, Scope scope) {
  for (auto [state, initial] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
    if (isa<MemRefType>(state.getType()))
      return op.emitError("cannot be printed as CUDA: a loop over buffers");
    names[state] = fresh("v");
    line(typeName(state.getType()) + " " + names[state] + " = " + name(initial) + ";");
  }
  declareResults(op);
  for (auto [argument, result] : llvm::zip(op.getAfterArguments(), op.getResults()))
    names[argument] = names.lookup(result);
  open("while (true)");
  if (failed(printOps(*op.getBeforeBody(), scope)) ||
      failed(assign(op.getResults(), op.getConditionOp().getArgs())))
    return failure();
  line("if (!" + name(op.getConditionOp().getCondition()) + ")");
  line("  break;");
  if (failed(printOps(*op.getAfterBody(), scope)) ||
      failed(assign(op.getBeforeArguments(), op.getYieldOp().getOperands())))
    return failure();
  close();
  return success();
}

LogicalResult Printer::printOps(Block &block, Scope scope) {
  for (Operation &op : block.without_terminator())
    if (failed(printOp(&op, scope)))
      return failure();
  return success();
}

LogicalResult Printer::printOp(Operation *op, Scope scope) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return printGeneric(generic, scope);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return printStore(store, scope);
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return printCopy(copy, scope);
  // Loops in a grid launch belong to one thread only where the launch has just one.
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printFor(loop, scope);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return printIf(choice, scope);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return printWhile(loop, scope);
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    SmallVector<std::string> indices;
    for (Value i : load.getIndices())
      indices.push_back(name(i));
    const View &source = view(load.getMemref());
    declare(load.getResult(), element(source, indices));
    return success();
  }
  if (isa<memref::DeallocOp>(op) || op->hasTrait<OpTrait::ConstantLike>() ||
      isa<memref::DimOp, memref::AllocOp>(op))
    return success();
  if (op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType())) {
    (void)view(op->getResult(0));
    return success();
  }
  return printScalar(op);
}

LogicalResult Printer::printBody(ArrayRef<Operation *> ops, Scope scope) {
  for (Operation *op : ops)
    if (failed(printOp(op, scope)))
      return failure();
  if (problem)
    return problem->emitError("cannot be printed as CUDA: ") << problem->getName();
  return success();
}

} // namespace dlc::cuda
