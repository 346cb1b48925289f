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

/// The element that a point reads or writes, or the variable that stands for it.
std::string Printer::placeText(Value memref, AffineMap map, ArrayRef<std::string> indices) {
  auto local = locals.find(memref);
  if (local != locals.end())
    return local->second;
  SmallVector<std::string> place;
  for (AffineExpr expr : map.getResults())
    place.push_back(affineText(expr, indices, {}));
  return element(view(memref), place);
}

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
    declare(argument, placeText(operand->get(), op.getMatchingIndexingMap(operand), indices));
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
    Type type = cast<MemRefType>(init.get().getType()).getElementType();
    places.push_back(placeText(init.get(), op.getMatchingIndexingMap(&init), indices));
    carried.push_back("");
    if (reduces || op.payloadUsesValueFromOperand(&init)) {
      carried.back() = fresh("sum");
      line(typeName(type) + " " + carried.back() + " = " + places.back() + ";");
    }
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  unsigned opened = 0;
  for (unsigned loop = 0; loop < kinds.size(); ++loop) {
    if (kinds[loop] == utils::IteratorType::parallel)
      continue;
    indices[loop] = fresh("r");
    open("for (" + index() + " " + indices[loop] + " = 0; " + indices[loop] + " < " +
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
  for (auto [place, value] : llvm::zip_equal(places, *yields))
    line(place + " = " + value + ";");
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
        indices[loop] = fresh("x");
        open("for (" + index() + " " + indices[loop] + " = 0; " + indices[loop] + " < " +
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
  note(total);
  if (scope == Scope::Grid)
    work = total.expr;
  barrier(scope);
  openThreadLoop(scope, total);
  printDecode("t", *order, sizes, indices);
  if (failed(printPoint(op, indices)))
    return failure();
  close();
  barrier(scope);
  return success();
}

/// Declares the loop indices of point number `flat`.
void Printer::printDecode(const std::string &flat, ArrayRef<unsigned> order,
                          ArrayRef<Extent> sizes, SmallVectorImpl<std::string> &indices) {
  std::string source = flat, rest;
  for (size_t i = order.size(); i-- > 0;) {
    unsigned loop = order[i];
    if (sizes[loop].text == "1") {
      indices[loop] = "0";
      continue;
    }
    indices[loop] = fresh("x");
    bool isLast = llvm::all_of(order.take_front(i),
                               [&](unsigned outer) { return sizes[outer].text == "1"; });
    if (isLast) {
      line("const " + index() + " " + indices[loop] + " = " + source + ";");
      source = "0";
      continue;
    }
    line("const " + index() + " " + indices[loop] + " = " + source + " % " + sizes[loop].text + ";");
    if (rest.empty()) {
      rest = fresh("rest");
      line(index() + " " + rest + " = " + source + " / " + sizes[loop].text + ";");
    } else {
      line(rest + " /= " + sizes[loop].text + ";");
    }
    source = rest;
  }
}

/// The members of a group at one point. A buffer that lives within the point is a
/// variable; so is one that several members use, which is stored once at the end.
LogicalResult Printer::printMembers(ArrayRef<PointOp> group, const PointOp &decodedFor,
                                    ArrayRef<std::string> decoded,
                                    const Contraction *contraction) {
  auto indicesOf = [&](const PointOp &member) {
    SmallVector<std::string> indices(linalg::GenericOp(member.op).getNumLoops(), "0");
    for (auto [from, to] : llvm::zip_equal(decodedFor.order, member.order))
      indices[to] = decoded[from];
    return indices;
  };
  auto declareLocal = [&](Value buffer, const std::string &initial) {
    std::string variable = fresh("local");
    line(typeName(cast<MemRefType>(buffer.getType()).getElementType()) + " " + variable + initial + ";");
    locals[buffer] = variable;
  };
  for (Value buffer : localBuffers(group))
    declareLocal(buffer, "");
  SmallVector<std::pair<std::string, Value>> stores;
  for (const PointOp &member : group) {
    linalg::GenericOp op = member.op;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value buffer = init.get();
      if (group.size() < 2 || locals.contains(buffer) || rootOf(buffer) != buffer)
        continue;
      std::string place = placeText(buffer, op.getMatchingIndexingMap(&init), indicesOf(member));
      bool isRead = op.getNumReductionLoops() > 0 || op.payloadUsesValueFromOperand(&init);
      declareLocal(buffer, isRead ? " = " + place : "");
      stores.push_back({place, buffer});
    }
    if (failed(contraction && member.op == contraction->op
                   ? printSum(*contraction, indicesOf(member))
                   : printPoint(member.op, indicesOf(member))))
      return failure();
  }
  for (auto &[place, buffer] : stores)
    line(place + " = " + locals.lookup(buffer) + ";");
  return success();
}

LogicalResult Printer::printPoints(ArrayRef<Operation *> needs, ArrayRef<PointOp> group) {
  if (failed(printBody(needs, Scope::Grid)))
    return failure();
  const PointOp &first = group.front();
  SmallVector<Extent> sizes = loopSizes(first.op);
  Extent total = constant(1);
  for (unsigned loop : first.order)
    total = times(total, sizes[loop]);
  note(total);
  work = total.expr;
  openThreadLoop(Scope::Grid, total);
  SmallVector<std::string> decoded(sizes.size(), "0");
  printDecode("t", first.order, sizes, decoded);
  if (failed(printMembers(group, first, decoded, nullptr)))
    return failure();
  close();
  return printBody({}, Scope::Grid);
}

} // namespace dlc::cuda
