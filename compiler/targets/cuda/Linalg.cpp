// linalg.generic as a loop over points: each thread takes the next point of the
// parallel loops and runs the reduction loops itself.

#include "compiler/targets/cuda/Printer.h"

using namespace mlir;

namespace dlc::cuda {

/// Sizes of the loops, from the operand axes that they walk.
SmallVector<Extent> Printer::loopSizes(linalg::GenericOp op) {
  SmallVector<Extent> sizes(op.getNumLoops(), Extent{"", {}});
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    const View &v = view(operand.get());
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        Extent &size = sizes[dim.getPosition()];
        // A static size says most, then one that the launch knows.
        if (size.text.empty() || (!size.expr && v.sizes[axis].expr) ||
            isa_and_nonnull<AffineConstantExpr>(v.sizes[axis].expr))
          size = v.sizes[axis];
      }
  }
  for (Extent &size : sizes)
    if (size.text.empty())
      problem = op;
  return sizes;
}

namespace {

/// The parallel loops, the fastest last: the output's own order, so that
/// neighbouring threads store to neighbouring places. None when a parallel loop
/// does not lead to a place of its own in every output.
std::optional<SmallVector<unsigned>> parallelOrder(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<unsigned> order;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<unsigned> mine;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        mine.push_back(dim.getPosition());
    if (init.getOperandNumber() == op.getDpsInitsMutable().begin()->getOperandNumber())
      order = mine;
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] == utils::IteratorType::parallel && !llvm::is_contained(mine, loop))
        return std::nullopt;
  }
  llvm::erase_if(order, [&](unsigned loop) { return kinds[loop] != utils::IteratorType::parallel; });
  return order;
}

} // namespace

/// Prints the scalar code of one point; returns what it yields.
FailureOr<SmallVector<std::string>> Printer::printPayload(linalg::GenericOp op,
                                                          ArrayRef<std::string> indices,
                                                          ArrayRef<std::string> carried) {
  Block &payload = *op.getBody();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    if (argument.use_empty())
      continue;
    if (!isa<MemRefType>(operand->get().getType())) {
      names[argument] = name(operand->get());
      continue;
    }
    SmallVector<std::string> place;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      place.push_back(affineText(expr, indices, {}));
    const View &source = view(operand->get());
    declare(argument, loadText(source, element(source, place)));
  }
  for (auto [i, argument] : llvm::enumerate(op.getRegionOutputArgs()))
    names[argument] = carried[i];
  SmallVector<std::string> outer(indices);
  std::swap(outer, loopIndices);
  for (Operation &inner : payload.without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(inner)) {
      names[position.getResult()] = "(i64)" + loopIndices[position.getDim()];
      continue;
    }
    if (failed(printOp(&inner, Scope::Thread)))
      return failure();
  }
  std::swap(outer, loopIndices);
  SmallVector<std::string> yields;
  for (Value value : payload.getTerminator()->getOperands())
    yields.push_back(name(value));
  return yields;
}

/// One point of the parallel loops: its reduction, then its stores.
LogicalResult Printer::printPoint(linalg::GenericOp op, ArrayRef<std::string> parallel) {
  SmallVector<std::string> indices(parallel);
  SmallVector<Extent> sizes = loopSizes(op);
  SmallVector<std::string> places, carried;
  bool reduces = op.getNumReductionLoops() > 0;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<std::string> place;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      place.push_back(affineText(expr, indices, {}));
    const View &target = view(init.get());
    places.push_back(element(target, place));
    carried.push_back("");
    if (op.payloadUsesValueFromOperand(&init)) {
      carried.back() = fresh("sum");
      line(typeName(target.element) + " " + carried.back() + " = " +
           loadText(target, places.back()) + ";");
    } else if (reduces) {
      carried.back() = fresh("last");
      line(typeName(target.element) + " " + carried.back() + " = " +
           loadText(target, places.back()) + ";");
    }
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  unsigned opened = 0;
  for (unsigned loop = 0; loop < kinds.size(); ++loop) {
    if (kinds[loop] == utils::IteratorType::parallel)
      continue;
    indices[loop] = fresh("r");
    open("for (" + index + " " + indices[loop] + " = 0; " + indices[loop] + " < " +
         sizes[loop].text + "; ++" + indices[loop] + ")");
    ++opened;
  }
  auto yields = printPayload(op, indices, carried);
  if (failed(yields))
    return failure();
  if (reduces) {
    SmallVector<std::string> held = *yields;
    if (held.size() > 1)
      for (std::string &value : held) {
        std::string next = fresh("next");
        line("const auto " + next + " = " + value + ";");
        value = next;
      }
    for (auto [variable, value] : llvm::zip(carried, held))
      if (variable != value)
        line(variable + " = " + value + ";");
    for (; opened > 0; --opened)
      close();
    *yields = carried;
  }
  for (auto [i, init] : llvm::enumerate(op.getDpsInits()))
    line(storeText(view(init), places[i], (*yields)[i]));
  return success();
}

LogicalResult Printer::printGeneric(linalg::GenericOp op, Scope scope) {
  SmallVector<Extent> sizes = loopSizes(op);
  auto order = parallelOrder(op);
  Extent total = constant(1);
  SmallVector<std::string> indices(sizes.size(), "0");
  if (!order) {
    // Points share places: one thread does them in order.
    if (scope == Scope::Grid)
      return op.emitError("cannot be printed as CUDA: parallel points that share a result");
    barrier(scope);
    if (scope == Scope::Block)
      open("if (threadIdx.x == 0)");
    unsigned opened = 0;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel) {
        indices[loop] = fresh("i");
        open("for (" + index + " " + indices[loop] + " = 0; " + indices[loop] + " < " +
             sizes[loop].text + "; ++" + indices[loop] + ")");
        ++opened;
      }
    if (failed(printPoint(op, indices)))
      return failure();
    for (; opened > 0; --opened)
      close();
    if (scope == Scope::Block)
      close();
    barrier(scope);
    return success();
  }
  for (unsigned loop : *order)
    total = times(total, sizes[loop]);
  if (scope == Scope::Grid)
    work = total.expr;
  barrier(scope);
  openThreadLoop(scope, total);
  bool isFirst = true;
  for (size_t i = order->size(); i-- > 0;) {
    unsigned loop = (*order)[i];
    if (sizes[loop].text == "1")
      continue;
    indices[loop] = fresh("i");
    bool isLast = llvm::all_of(ArrayRef(*order).take_front(i),
                               [&](unsigned outer) { return sizes[outer].text == "1"; });
    std::string source = isFirst ? "t" : "rest";
    if (isLast) {
      line("const " + index + " " + indices[loop] + " = " + source + ";");
      break;
    }
    line("const " + index + " " + indices[loop] + " = " + source + " % " + sizes[loop].text + ";");
    line((isFirst ? index + " rest = t / " : std::string("rest /= ")) + sizes[loop].text + ";");
    isFirst = false;
  }
  if (failed(printPoint(op, indices)))
    return failure();
  close();
  barrier(scope);
  return success();
}

} // namespace dlc::cuda
