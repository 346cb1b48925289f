// Prints reductions, and the ops around them, as rows: one block does one point of the
// loops that the reduction leaves, its threads share the rest of the row, and what the
// row as a whole has (a maximum, a sum) is a variable of every thread.

#include "compiler/targets/cuda/Combiners.h"
#include "compiler/targets/cuda/Printer.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// A shorter row is one thread's work.
constexpr int64_t kShortestRow = 32;
/// So few threads would leave a device idle: a block for each, even if it reads columns.
constexpr int64_t kFewResults = 4096;

/// Where each row loop indexes the buffer; -1 for a loop of one iteration.
std::optional<SmallVector<int>> rowPositions(const PointOp &op, unsigned rank, AffineMap place) {
  SmallVector<int> positions;
  for (unsigned row = 0; row < rank; ++row) {
    if (isa_and_nonnull<AffineConstantExpr>(op.sizes[row]) &&
        cast<AffineConstantExpr>(op.sizes[row]).getValue() == 1) {
      positions.push_back(-1);
      continue;
    }
    auto found = llvm::find(place.getResults(), getAffineDimExpr(row, place.getContext()));
    if (found == place.getResults().end())
      return std::nullopt;
    positions.push_back(found - place.getResults().begin());
  }
  return positions;
}

} // namespace

bool readsRows(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() == 0)
      continue;
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] != utils::IteratorType::parallel && map.getResults().back().isFunctionOfDim(loop))
        return true;
  }
  return false;
}

/// The iterations of the loops of one kind, parallel ones or others; dynamic if any is.
static int64_t sizeOf(linalg::GenericOp op, bool isParallel) {
  int64_t size = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::parallel) == isParallel)
      size = ShapedType::isDynamic(ranges[loop]) || ShapedType::isDynamic(size) ? ShapedType::kDynamic
                                                                                : size * ranges[loop];
  return size;
}

bool isRowReduction(const PointOp &point) {
  linalg::GenericOp op = point.op;
  if (op.getNumReductionLoops() == 0)
    return false;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    if (!combinerOf(op, i))
      return false;
  int64_t length = sizeOf(op, false), results = sizeOf(op, true);
  if (!ShapedType::isDynamic(length) && length < kShortestRow)
    return false;
  return readsRows(op) || (!ShapedType::isDynamic(results) && results <= kFewResults);
}

bool canShareRows(ArrayRef<PointOp> ops, unsigned rank) {
  for (const PointOp &op : ops) {
    linalg::GenericOp generic = op.op;
    // Of the reductions, only those that leave one value for the row; of the rest, only
    // those with one result, which is a variable or memory and not both.
    if ((generic.getNumReductionLoops() == 0 && generic.getNumDpsInits() > 1) ||
        op.order.size() < rank || llvm::is_contained(op.sizes, AffineExpr()) ||
        !llvm::equal(ArrayRef(op.sizes).take_front(rank), ArrayRef(ops[0].sizes).take_front(rank)) ||
        (generic.getNumReductionLoops() > 0 && (op.order.size() != rank || !isRowReduction(op))))
      return false;
  }
  for (const PointOp &writer : ops)
    for (const Access &write : writer.accesses) {
      if (!write.isWrite)
        continue;
      auto own = write.place ? rowPositions(writer, rank, write.place) : std::nullopt;
      if (!own)
        return false;
      for (const PointOp &other : ops)
        for (const Access &access : other.accesses)
          if (access.root == write.root &&
              (!access.place || rowPositions(other, rank, access.place) != own))
            return false;
    }
  return true;
}

/// One value per row, combined by all threads.
LogicalResult Printer::printRowReduction(const PointOp &point, ArrayRef<std::string> row) {
  linalg::GenericOp op = point.op;
  SmallVector<Extent> sizes = loopSizes(op);
  SmallVector<unsigned> reduced;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel)
      reduced.push_back(loop);
  SmallVector<std::string> indices(row), partials;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    Operation *combiner = combinerOf(op, i);
    partials.push_back(fresh("partial"));
    line(typeName(combiner->getResult(0).getType()) + " " + partials.back() + " = " +
         literal(identityOf(combiner)) + ";");
  }
  std::string at = fresh("r");
  open("for (" + index() + " " + at + " = threadIdx.x; " + at + " < " + product(reduced, sizes).text +
       "; " + at + " += blockDim.x)");
  printDecode(at, reduced, sizes, indices);
  auto yields = printPayload(op, indices, partials);
  if (failed(yields))
    return failure();
  for (auto [partial, value] : llvm::zip_equal(partials, *yields))
    line(partial + " = " + value + ";");
  close();
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    Operation *combiner = combinerOf(op, i);
    std::string type = typeName(combiner->getResult(0).getType());
    line(partials[i] + " = dlc_block_reduce(" + partials[i] + ", [](" + type + " a, " + type +
         " b) { return " + expression(combiner, {"a", "b"}) + "; }, (" + type + " *)partials);");
    OpOperand *init = op.getDpsInitOperand(i);
    std::string place = placeText(init->get(), op.getMatchingIndexingMap(init), indices);
    bool isVariable = locals.contains(init->get());
    if (!isVariable)
      line("__syncthreads();");
    line((isVariable ? "" : "if (threadIdx.x == 0) ") + place + " = " +
         expression(combiner, {place, partials[i]}) + ";");
    if (!isVariable)
      line("__syncthreads();");
  }
  return success();
}

/// The points of the row beyond the row itself, shared out among the threads.
LogicalResult Printer::printRowPoints(const PointOp &point, unsigned rank,
                                      ArrayRef<std::string> row) {
  linalg::GenericOp op = point.op;
  SmallVector<Extent> sizes = loopSizes(op);
  ArrayRef<unsigned> inner = ArrayRef(point.order).drop_front(rank);
  SmallVector<std::string> indices(row);
  bool onlyVariables = llvm::all_of(op.getDpsInits(), [&](Value v) { return locals.contains(v); });
  if (inner.empty()) {
    if (onlyVariables)
      return printPoint(op, indices);
    line("__syncthreads();");
    open("if (threadIdx.x == 0)");
  } else {
    std::string at = fresh("c");
    open("for (" + index() + " " + at + " = threadIdx.x; " + at + " < " + product(inner, sizes).text +
         "; " + at + " += blockDim.x)");
    printDecode(at, inner, sizes, indices);
  }
  if (failed(printPoint(op, indices)))
    return failure();
  close();
  line("__syncthreads();");
  return success();
}

LogicalResult Printer::printRows(ArrayRef<Operation *> needs, ArrayRef<PointOp> group,
                                 unsigned rank) {
  if (failed(printBody(needs, Scope::Grid)))
    return failure();
  const PointOp &first = group.front();
  SmallVector<Extent> sizes = loopSizes(first.op);
  ArrayRef<unsigned> rowLoops = ArrayRef(first.order).take_front(rank);
  Extent rows = product(rowLoops, sizes);
  work = rows.expr;
  line("__shared__ u64 partials[32];");
  open("for (" + index() + " row = blockIdx.x; row < " + rows.text + "; row += gridDim.x)");
  SmallVector<std::string> decoded(sizes.size(), "0");
  printDecode("row", rowLoops, sizes, decoded);
  for (Value buffer : rowVariables(group, rank)) {
    locals[buffer] = fresh("row");
    line(typeName(cast<MemRefType>(buffer.getType()).getElementType()) + " " + locals[buffer] + ";");
  }
  for (const PointOp &member : group) {
    SmallVector<std::string> indices(linalg::GenericOp(member.op).getNumLoops(), "0");
    for (unsigned i = 0; i < rank; ++i)
      indices[member.order[i]] = decoded[first.order[i]];
    bool reduces = linalg::GenericOp(member.op).getNumReductionLoops() > 0;
    if (failed(reduces ? printRowReduction(member, indices)
                       : printRowPoints(member, rank, indices)))
      return failure();
  }
  line("__syncthreads();");
  close();
  return printBody({}, Scope::Grid);
}

} // namespace dlc::cuda
