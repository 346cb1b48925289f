// Recognises products of two computed f32 matrices, whose right side the kernel
// packs itself.

#include "compiler/ContractionSource.h"
#include "compiler/EpilogueSource.h"

#include "compiler/targets/cpu/contraction/MatMul.h"

#include "dialects/dl/ops/MatMul.h"

using namespace mlir;

namespace dlc {

namespace {

using cpu::MatMulKernel;
using cpu::MatrixAccess;

class Recogniser {
public:
  Recogniser(dl::KernelOp kernel, ShapeAnalysis &shapes, const std::string &name)
      : kernel(kernel), shapes(shapes), sizes(kernel.getContext()) {
    spec.name = name;
  }

  std::optional<ContractionSource> run() {
    matmul = dyn_cast_or_null<dl::MatMulOp>(findRoot(kernel));
    if (!matmul || !isOperand(matmul.getLhs()) || !isOperand(matmul.getRhs()))
      return std::nullopt;
    epilogue = toEpilogue(kernel, matmul, shapes);
    if (!epilogue)
      return std::nullopt;
    out = shapes.lookup(matmul.getResult()).dims;
    joinsBatch = canJoinBatch();
    describe();
    return finish();
  }

private:
  static bool isOperand(Value v) {
    return isa<BlockArgument>(v) && cast<RankedTensorType>(v.getType()).getElementType().isF32();
  }
  AffineExpr constant(int64_t v) { return getAffineConstantExpr(v, kernel.getContext()); }
  AffineExpr product(ArrayRef<AffineExpr> dims) {
    return sizes.add(dl::product(dims, kernel.getContext()));
  }
  int64_t batchRank() { return out.size() - 2; }

  /// All rows against one matrix: the leading axes are more rows.
  bool canJoinBatch() {
    auto isWhole = [&](Value v) { return shapes.lookup(v).dims == ArrayRef<AffineExpr>(out); };
    auto isRow = [&](Value v) {
      dl::Shape dims = shapes.lookup(v).dims;
      return dims.empty() || llvm::all_of(ArrayRef<AffineExpr>(dims).drop_back(), isOne);
    };
    dl::Shape lhs = shapes.lookup(matmul.getLhs()).dims, rhs = shapes.lookup(matmul.getRhs()).dims;
    bool lhsSpansBatch = lhs.size() == out.size() &&
                         ArrayRef(lhs).drop_back(2) == ArrayRef<AffineExpr>(out).drop_back(2);
    return batchRank() > 0 && !matmul.getTransposeLhs() && lhsSpansBatch &&
           llvm::all_of(ArrayRef<AffineExpr>(rhs).drop_back(2), isOne) &&
           llvm::all_of(epilogue->operands, [&](Value v) { return isWhole(v) || isRow(v); });
  }

  static bool isOne(AffineExpr e) { return dl::constantSize(e) == 1; }

  /// A dense operand whose trailing two axes are read with the given strides.
  MatrixAccess access(Value v, AffineExpr rowStride, AffineExpr columnStride) {
    MatrixAccess result;
    result.buffer = cast<BlockArgument>(v).getArgNumber();
    result.rowStride = rowStride;
    result.columnStride = columnStride;
    dl::Shape dims = shapes.lookup(v).dims;
    for (int64_t axis = 0; axis < batchRank() && !joinsBatch; ++axis) {
      int64_t own = axis - int64_t(out.size()) + int64_t(dims.size());
      bool isBroadcast = own < 0 || isOne(dims[own]);
      result.batchStrides.push_back(
          isBroadcast ? constant(0) : product(ArrayRef<AffineExpr>(dims).drop_front(own + 1)));
    }
    return result;
  }

  MatrixAccess factor(Value v, bool isTransposed) {
    AffineExpr width = sizes.add(shapes.lookup(v).dims.back());
    return isTransposed ? access(v, constant(1), width) : access(v, width, constant(1));
  }

  MatrixAccess epilogueOperand(Value v) {
    dl::Shape dims = shapes.lookup(v).dims;
    AffineExpr column = constant(0), row = constant(0);
    if (!dims.empty() && !isOne(dims.back()))
      column = constant(1);
    if (dims.size() > 1 && !isOne(dims[dims.size() - 2]))
      row = sizes.add(dims.back());
    // Joined rows run over the leading axes too.
    if (joinsBatch && dims == ArrayRef<AffineExpr>(out))
      row = sizes.add(dims.back());
    return access(v, row, column);
  }

  void describe() {
    ArrayRef<AffineExpr> dims = out;
    dl::Shape lhs = shapes.lookup(matmul.getLhs()).dims;
    spec.inner = sizes.add(lhs[lhs.size() - (matmul.getTransposeLhs() ? 2 : 1)]);
    spec.columns = sizes.add(dims.back());
    spec.rows = joinsBatch ? product(dims.drop_back()) : sizes.add(dims[dims.size() - 2]);
    for (AffineExpr size : dims.drop_back(2))
      if (!joinsBatch)
        spec.batch.push_back(sizes.add(size));
    spec.lhs = factor(matmul.getLhs(), matmul.getTransposeLhs());
    spec.rhs = factor(matmul.getRhs(), matmul.getTransposeRhs());
    for (Value v : epilogue->operands)
      spec.epilogueOperands.push_back(epilogueOperand(v));
    spec.numBuffers = kernel.getInputs().size() + 1;
    spec.outputBuffer = spec.numBuffers - 1;
    spec.numDims = sizes.sizes.size();
  }

  /// All expressions of the kernel in a fixed order, to be read or replaced.
  static void forEachExpr(MatMulKernel &k, llvm::function_ref<void(AffineExpr &)> visit) {
    auto visitAccess = [&](MatrixAccess &access) {
      llvm::for_each(access.batchStrides, visit);
      visit(access.rowStride);
      visit(access.columnStride);
    };
    llvm::for_each(k.batch, visit);
    for (AffineExpr *e : {&k.rows, &k.columns, &k.inner})
      visit(*e);
    visitAccess(k.lhs);
    visitAccess(k.rhs);
    llvm::for_each(k.epilogueOperands, visitAccess);
  }

  ContractionSource finish() {
    SmallVector<AffineExpr> exprs;
    forEachExpr(spec, [&](AffineExpr &e) { exprs.push_back(e); });
    std::string map = sizes.mapText(exprs), text = epilogue->text;
    std::string key = "matmul" + map + text + "," + std::to_string(spec.batch.size()) + "," +
                      std::to_string(spec.numBuffers) + "," + std::to_string(spec.lhs.buffer) +
                      "," + std::to_string(spec.rhs.buffer);
    for (const MatrixAccess &operand : spec.epilogueOperands)
      key += ";" + std::to_string(operand.buffer);
    // Expressions belong to a context: the worker reads its own from text.
    auto emit = [spec = spec, map, text](OpBuilder &at, const cpu::CpuInfo &cpu) {
      MatMulKernel kernel = spec;
      SmallVector<AffineExpr> parsed = parseMap(map, at.getContext());
      size_t next = 0;
      forEachExpr(kernel, [&](AffineExpr &e) { e = parsed[next++]; });
      auto module = parseEpilogue(text, at.getContext());
      kernel.epilogue = *module->getOps<func::FuncOp>().begin();
      cpu::emitMatMul(at, kernel, cpu.isa);
    };
    return {std::move(key), emit, sizes.sizes};
  }

  dl::KernelOp kernel;
  ShapeAnalysis &shapes;
  LocalSizes sizes;
  dl::MatMulOp matmul;
  MatMulKernel spec;
  std::optional<EpilogueSource> epilogue;
  dl::Shape out;
  bool joinsBatch = false;
};

} // namespace

std::optional<ContractionSource> toMatMul(dl::KernelOp kernel, ShapeAnalysis &shapes,
                                          const std::string &name) {
  return Recogniser(kernel, shapes, name).run();
}

} // namespace dlc
