// Describes dl.attention to the CPU target's generator.

#include "compiler/ContractionSource.h"
#include "compiler/EpilogueSource.h"

#include "compiler/targets/cpu/contraction/Attention.h"

#include "dialects/dl/ops/Attention.h"

using namespace mlir;

namespace dlc {

namespace {

using cpu::AttentionKernel;
using cpu::MatrixAccess;

class Describer {
public:
  Describer(dl::AttentionOp op, dl::KernelOp kernel, ShapeAnalysis &shapes)
      : op(op), kernel(kernel), shapes(shapes), sizes(op.getContext()) {}

  ContractionSource run(const std::string &name) {
    dl::Shape query = dims(op.getQuery()), key = dims(op.getKey());
    spec.name = name;
    spec.batch = sizes.add(query[0]);
    spec.heads = sizes.add(query[1]);
    spec.rows = sizes.add(query[2]);
    spec.keys = sizes.add(key[2]);
    spec.headSize = *dl::constantSize(query[3]);
    spec.valueSize = *dl::constantSize(dims(op.getValue())[3]);
    auto heads = dl::constantSize(query[1]), shared = dl::constantSize(key[1]);
    spec.headsPerKey = heads && shared && *shared > 0 ? std::max<int64_t>(1, *heads / *shared) : 1;
    spec.query = access(op.getQuery());
    spec.key = access(op.getKey());
    spec.value = access(op.getValue());
    if (op.getMask())
      spec.mask = access(op.getMask());
    if (op.getBias())
      spec.bias = access(op.getBias());
    spec.scale = op.getScale().convertToDouble();
    spec.softcap = op.softcap();
    spec.maskedValue = op.maskedValue();
    spec.isCausal = op.getCausal();
    spec.zeroesEmptyRows = op.getZeroEmptyRows();
    spec.numBuffers = kernel.getInputs().size() + 1;
    spec.outputBuffer = spec.numBuffers - 1;
    spec.numDims = sizes.sizes.size();
    return finish();
  }

private:
  dl::Shape dims(Value v) { return shapes.lookup(v).dims; }
  AffineExpr constant(int64_t v) { return getAffineConstantExpr(v, op.getContext()); }

  /// A dense operand over the axes of the scores, broadcast along those of size 1.
  MatrixAccess access(Value v) {
    dl::Shape own = dims(v);
    SmallVector<AffineExpr> strides(4, constant(0));
    for (size_t axis = 0; axis < own.size(); ++axis)
      if (dl::constantSize(own[axis]) != 1)
        strides[4 - own.size() + axis] = sizes.add(
            dl::product(ArrayRef<AffineExpr>(own).drop_front(axis + 1), op.getContext()));
    return {cast<BlockArgument>(v).getArgNumber(), {strides[0], strides[1]}, strides[2], strides[3]};
  }

  static void forEachExpr(AttentionKernel &k, llvm::function_ref<void(AffineExpr &)> visit) {
    for (AffineExpr *e : {&k.batch, &k.heads, &k.rows, &k.keys})
      visit(*e);
    for (MatrixAccess *access : {&k.query, &k.key, &k.value, k.mask ? &*k.mask : nullptr,
                                 k.bias ? &*k.bias : nullptr}) {
      if (!access)
        continue;
      llvm::for_each(access->batchStrides, visit);
      visit(access->rowStride);
      visit(access->columnStride);
    }
  }

  ContractionSource finish() {
    SmallVector<AffineExpr> exprs;
    forEachExpr(spec, [&](AffineExpr &e) { exprs.push_back(e); });
    std::string map = sizes.mapText(exprs), key;
    llvm::raw_string_ostream os(key);
    // What the map leaves open stands in the op itself.
    os << "attention" << map << op->getAttrDictionary() << spec.headSize << "," << spec.valueSize;
    for (Value operand : op->getOperands())
      os << "," << cast<BlockArgument>(operand).getArgNumber();
    auto emit = [spec = spec, map](OpBuilder &at, const cpu::CpuInfo &cpu) {
      AttentionKernel kernel = spec;
      SmallVector<AffineExpr> parsed = parseMap(map, at.getContext());
      size_t next = 0;
      forEachExpr(kernel, [&](AffineExpr &e) { e = parsed[next++]; });
      cpu::emitAttention(at, kernel, cpu.isa);
    };
    return {std::move(key), emit, sizes.sizes};
  }

  dl::AttentionOp op;
  dl::KernelOp kernel;
  ShapeAnalysis &shapes;
  LocalSizes sizes;
  AttentionKernel spec;
};

} // namespace

std::optional<ContractionSource> toAttention(dl::KernelOp kernel, ShapeAnalysis &shapes,
                                             const std::string &name) {
  auto op = dyn_cast_or_null<dl::AttentionOp>(findRoot(kernel));
  bool isAlone = op && kernel.getBody().front().getOperations().size() == 2;
  if (!isAlone || !op.hasKernel() ||
      !llvm::all_of(op->getOperands(), [](Value v) { return isa<BlockArgument>(v); }))
    return std::nullopt;
  return Describer(op, kernel, shapes).run(name);
}

} // namespace dlc
