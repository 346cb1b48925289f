// From tensors to the kernel ABI: pointers become memrefs, results are written
// into the buffers that the caller gave.

#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/contraction/KernelBuilder.h"
#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

class AbiBuilder {
public:
  AbiBuilder(ModuleOp module, func::FuncOp kernel, StringRef name)
      : kernel(kernel), b(module.getBodyRegion()), m(b, kernel.getLoc(), 1),
        name(name.str()) {
    b.setInsertionPointToEnd(module.getBody());
    for (Type type : kernel.getArgumentTypes())
      isa<RankedTensorType>(type) ? ++numInputs : ++numSizes;
    numOutputs = kernel.getNumResults();
  }

  func::FuncOp run() {
    emitWork();
    func::FuncOp body = emitBody();
    emitEntry(body);
    kernel.erase();
    return body;
  }

private:
  void emitWork() {
    OpBuilder::InsertionGuard guard(b);
    func::FuncOp work = m.beginWork(name);
    Value count = m.integer(1);
    if (auto map = kernel->getAttrOfType<AffineMapAttr>(kWorkCountAttr))
      count = m.expand(map.getValue().getResult(0), m.loadSizes(work.getArgument(0), numSizes));
    func::ReturnOp::create(b, m.loc, count);
  }

  void emitEntry(func::FuncOp body) {
    OpBuilder::InsertionGuard guard(b);
    func::FuncOp entry = m.beginKernel(name);
    Value call = entry.getArgument(0);
    SmallVector<Value> args = {call};
    llvm::append_range(args, m.loadBuffers(call, numInputs + numOutputs));
    llvm::append_range(args, m.loadSizes(m.dimsOf(call), numSizes));
    args.push_back(entry.getArgument(1));
    args.push_back(entry.getArgument(2));
    auto result = func::CallOp::create(b, m.loc, body, args);
    func::ReturnOp::create(b, m.loc, result.getResults());
  }

  /// A memref over a pointer, of a tensor type whose dynamic sizes follow `dims`.
  Value memref(Value pointer, RankedTensorType type, AffineMap dims,
               ArrayRef<Value> sizes) {
    auto memrefType = MemRefType::get(type.getShape(), type.getElementType());
    int64_t rank = type.getRank();
    auto i64 = m.i64();
    SmallVector<Type> fields = {m.pointer(), m.pointer(), i64};
    if (rank)
      fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
    Value value = LLVM::PoisonOp::create(
        b, m.loc, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
    auto insert = [&](Value element, ArrayRef<int64_t> position) {
      value = LLVM::InsertValueOp::create(b, m.loc, value, element, position);
    };
    insert(pointer, {0});
    insert(pointer, {1});
    insert(m.integer(0), {2});
    Value stride = m.integer(1);
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      Value size = type.isDynamicDim(axis) ? m.expand(dims.getResult(axis), sizes)
                                           : m.integer(type.getDimSize(axis));
      insert(size, {3, axis});
      insert(stride, {4, axis});
      stride = m.mul(stride, size);
    }
    return UnrealizedConversionCastOp::create(b, m.loc, TypeRange(memrefType),
                                              ValueRange(value))
        .getResult(0);
  }

  func::FuncOp emitBody() {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> inputs(1 + numInputs + numOutputs, m.pointer());
    inputs.append(numSizes + 2, m.i64());
    func::FuncOp body = m.beginFunction(name + "_body", inputs, b.getI32Type());
    body.setPrivate();
    for (unsigned i = 0; i < numInputs; ++i)
      if (!kernel.getArgAttr(i, kSharedAttr))
        body.setArgAttr(1 + i, "llvm.noalias", b.getUnitAttr());
    for (unsigned i = 0; i < numOutputs; ++i)
      if (!kernel.getResultAttr(i, kSharedAttr))
        body.setArgAttr(1 + numInputs + i, "llvm.noalias", b.getUnitAttr());
    SmallVector<Value> args(body.getArguments().begin(), body.getArguments().end());
    auto sizes = ArrayRef<Value>(args).slice(1 + numInputs + numOutputs, numSizes);
    IRMapping mapping;
    Block &source = kernel.getBody().front();
    for (unsigned i = 0; i < numInputs; ++i) {
      auto type = cast<RankedTensorType>(source.getArgument(i).getType());
      auto dims = kernel.getArgAttrOfType<AffineMapAttr>(i, "dl.dims").getValue();
      Value buffer = memref(args[1 + i], type, dims, sizes);
      mapping.map(source.getArgument(i),
                  bufferization::ToTensorOp::create(b, m.loc, type, buffer,
                                                    /*restrict=*/true));
    }
    for (unsigned i = 0; i < numSizes; ++i)
      mapping.map(source.getArgument(numInputs + i),
                  arith::IndexCastOp::create(b, m.loc, b.getIndexType(), sizes[i]));
    for (Operation &op : source.without_terminator())
      b.clone(op, mapping);
    for (auto [i, result] : llvm::enumerate(source.getTerminator()->getOperands())) {
      auto type = cast<RankedTensorType>(result.getType());
      auto dims = kernel.getResultAttrOfType<AffineMapAttr>(i, "dl.dims").getValue();
      Value buffer = memref(args[1 + numInputs + i], type, dims, sizes);
      auto store = bufferization::MaterializeInDestinationOp::create(
          b, m.loc, Type(), mapping.lookup(result), buffer);
      store.setRestrict(true);
      store.setWritable(true);
    }
    Value ok = arith::ConstantOp::create(b, m.loc, b.getI32IntegerAttr(0));
    func::ReturnOp::create(b, m.loc, ok);
    return body;
  }

  func::FuncOp kernel;
  OpBuilder b;
  KernelBuilder m;
  std::string name;
  unsigned numInputs = 0, numOutputs = 0, numSizes = 0;
};

} // namespace

func::FuncOp wrapInAbi(ModuleOp module, func::FuncOp kernel, StringRef name) {
  return AbiBuilder(module, kernel, name).run();
}

} // namespace dlc::cpu
