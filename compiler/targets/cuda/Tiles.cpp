// Prints a contraction, with the ops over the same points around it, as tiles of a
// matrix product (device/tile.cuh). Operands are fetched through their own indexing,
// so a convolution is an implicit matrix product and a packed filter stays packed.

#include "compiler/targets/cuda/Contraction.h"
#include "compiler/targets/cuda/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

/// The stored type of both factors, when tensor cores multiply it exactly.
Type halfFactor(const Contraction &c) {
  auto stored = [](Value factor) -> Type {
    auto extension = factor.getDefiningOp<arith::ExtFOp>();
    if (!extension || !isa<BlockArgument>(extension.getIn()) || !factor.getType().isF32())
      return {};
    return extension.getIn().getType();
  };
  Type a = stored(c.aFactor), b = stored(c.bFactor);
  return a && a == b && (a.isF16() || a.isBF16()) ? a : Type();
}

} // namespace

Extent Printer::product(ArrayRef<unsigned> loops, ArrayRef<Extent> sizes) {
  Extent total = constant(1);
  for (unsigned loop : loops)
    total = times(total, sizes[loop]);
  note(total);
  return total;
}

/// The value of one factor at the indices, or the stored bits where `isRaw`.
LogicalResult Printer::printFactor(const Contraction &c, bool isA, ArrayRef<std::string> indices,
                                   bool isRaw, std::string &value) {
  linalg::GenericOp op = c.op;
  OpOperand *operand = op.getDpsInputOperand(isA ? c.aInput : c.bInput);
  BlockArgument argument = op.getMatchingBlockArgument(operand);
  declare(argument, placeText(operand->get(), op.getMatchingIndexingMap(operand), indices));
  Value factor = isA ? c.aFactor : c.bFactor;
  if (!isRaw) {
    llvm::SetVector<Operation *> chain;
    for (Value at = factor; Operation *def = at.getDefiningOp(); at = def->getOperand(0))
      chain.insert(def);
    for (Operation *def : llvm::reverse(chain))
      if (failed(printScalar(def)))
        return failure();
  }
  value = name(isRaw ? Value(argument) : factor);
  return success();
}

/// Stages one operand of the next step of the depth.
LogicalResult Printer::printStage(const Contraction &c, bool isA, ArrayRef<Extent> sizes,
                                  ArrayRef<std::string> batch, bool isRaw) {
  linalg::GenericOp op = c.op;
  AffineMap map = op.getIndexingMapsArray()[isA ? c.aInput : c.bInput];
  // Neighbouring threads fetch neighbours in memory.
  bool depthIsInner = llvm::any_of(c.k, [&](unsigned loop) {
    return map.getNumResults() > 0 && map.getResults().back().isFunctionOfDim(loop);
  });
  std::string side = isA ? "Tile::kRows" : "Tile::kColumns";
  open("for (int e = threadIdx.x; e < " + side + " * Tile::kDepth; e += Tile::kThreads)");
  line(depthIsInner ? "const int x = e / Tile::kDepth, depth = e % Tile::kDepth;"
                    : "const int x = e % " + side + ", depth = e / " + side + ";");
  std::string outer = isA ? "m" : "n";
  line("const " + index() + " " + outer + " = " + outer + "0 + x, k = k0 + depth;");
  line("Tile::Factor value{};");
  open("if (" + outer + " < " + product(isA ? c.m : c.n, sizes).text + " && k < " +
       product(c.k, sizes).text + ")");
  SmallVector<std::string> indices(batch);
  printDecode(outer, isA ? c.m : c.n, sizes, indices);
  printDecode("k", c.k, sizes, indices);
  std::string value;
  if (failed(printFactor(c, isA, indices, isRaw, value)))
    return failure();
  line("value = " + value + ";");
  close();
  line(isA ? "shared.a(x, depth) = value;" : "shared.b(depth, x) = value;");
  close();
  return success();
}

/// Adds the sum of this point to where it belongs.
LogicalResult Printer::printSum(const Contraction &c, ArrayRef<std::string> indices) {
  linalg::GenericOp op = c.op;
  OpOperand *init = op.getDpsInitOperand(0);
  std::string place = placeText(init->get(), op.getMatchingIndexingMap(init), indices);
  bool isFloat = isa<FloatType>(cast<MemRefType>(init->get().getType()).getElementType());
  line(place + " = " + (isFloat ? place + " + tile.result(e);"
                                : "dlc_multiply_add(" + place + ", 1, tile.result(e));"));
  return success();
}

/// Everything that happens at one sum once it is complete.
LogicalResult Printer::printTileResults(const Contraction &c, ArrayRef<PointOp> group,
                                        ArrayRef<Extent> sizes, ArrayRef<std::string> batch) {
  line("#pragma unroll");
  open("for (int e = 0; e < Tile::kResults; ++e)");
  line("const " + index() + " m = m0 + tile.row(e), n = n0 + tile.column(e);");
  line("if (m >= " + product(c.m, sizes).text + " || n >= " + product(c.n, sizes).text + ")");
  line("  continue;");
  SmallVector<std::string> decoded(batch);
  printDecode("m", c.m, sizes, decoded);
  printDecode("n", c.n, sizes, decoded);
  auto self = llvm::find_if(group, [&](const PointOp &p) { return p.op == c.op; });
  if (failed(printMembers(group, *self, decoded, &c)))
    return failure();
  close();
  return success();
}

LogicalResult Printer::printTiles(ArrayRef<Operation *> needs, ArrayRef<PointOp> group,
                                  const Contraction &c) {
  if (failed(printBody(needs, Scope::Grid)))
    return failure();
  SmallVector<Extent> sizes = loopSizes(c.op);
  linalg::GenericOp op = c.op;
  Type half = halfFactor(c);
  Type sum = op.getRegionOutputArgs().front().getType();
  line("typedef " + (half ? "MmaTile<" + typeName(half) : "SimtTile<" + typeName(sum)) + "> Tile;");
  line("__shared__ Tile::Shared shared;");
  Extent m = product(c.m, sizes), n = product(c.n, sizes), k = product(c.k, sizes),
         count = product(c.batch, sizes);
  line("const " + index() + " rowTiles = (" + m.text + " + Tile::kRows - 1) / Tile::kRows;");
  line("const " + index() + " columnTiles = (" + n.text + " + Tile::kColumns - 1) / Tile::kColumns;");
  open("for (" + index() + " at = blockIdx.x; at < " + count.text +
       " * rowTiles * columnTiles; at += gridDim.x)");
  line("const " + index() + " n0 = at % columnTiles * Tile::kColumns;");
  line("const " + index() + " m0 = at / columnTiles % rowTiles * Tile::kRows;");
  SmallVector<std::string> batch(sizes.size(), "0");
  if (!c.batch.empty()) {
    line("const " + index() + " batch = at / columnTiles / rowTiles;");
    printDecode("batch", c.batch, sizes, batch);
  }
  line("Tile tile;");
  open("for (" + index() + " k0 = 0; k0 < " + k.text + "; k0 += Tile::kDepth)");
  if (failed(printStage(c, true, sizes, batch, bool(half))) ||
      failed(printStage(c, false, sizes, batch, bool(half))))
    return failure();
  line("__syncthreads();");
  line("tile.multiply(shared);");
  line("__syncthreads();");
  close();
  if (failed(printTileResults(c, group, sizes, batch)))
    return failure();
  close();
  if (m.expr && n.expr && count.expr) {
    constexpr int64_t side = 64;
    work = count.expr * m.expr.ceilDiv(side) * n.expr.ceilDiv(side);
  }
  return printBody({}, Scope::Grid);
}

} // namespace dlc::cuda
