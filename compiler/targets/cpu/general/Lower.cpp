// The last MLIR steps of every kernel: loops, allocations, LLVM dialect.

#include "compiler/targets/cpu/contraction/KernelBuilder.h"
#include "compiler/targets/cpu/general/General.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Allocations up to this size go on the stack.
constexpr int64_t kStackBytes = 16384;

bool isSmall(MemRefType type) {
  return type.hasStaticShape() &&
         type.getNumElements() <= kStackBytes / 8;
}

/// memref.alloc at the function's top becomes memory of the call's scratch.
/// The check for null splits the block, so this runs after loops are blocks.
void lowerAllocation(memref::AllocOp alloc, func::FuncOp body) {
  OpBuilder b(alloc);
  KernelBuilder m(b, alloc.getLoc(), 1);
  MemRefType type = alloc.getType();
  Value call = body.getArgument(0);
  SmallVector<Value> sizes;
  unsigned dynamic = 0;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size)
                        ? arith::IndexCastOp::create(b, m.loc, m.i64(),
                                                     alloc.getDynamicSizes()[dynamic++])
                              .getResult()
                        : m.integer(size));
  int64_t elementBytes = (type.getElementTypeBitWidth() + 7) / 8;
  Value bytes = m.integer(elementBytes);
  for (Value size : sizes)
    bytes = m.mul(bytes, size);
  Value memory = m.scratch(call, bytes);
  Value isNull = m.isNull(memory);

  int64_t rank = type.getRank();
  SmallVector<Type> fields = {m.pointer(), m.pointer(), m.i64()};
  if (rank)
    fields.append(2, LLVM::LLVMArrayType::get(m.i64(), rank));
  Value descriptor = LLVM::PoisonOp::create(
      b, m.loc, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
  auto insert = [&](Value element, ArrayRef<int64_t> position) {
    descriptor = LLVM::InsertValueOp::create(b, m.loc, descriptor, element, position);
  };
  insert(memory, {0});
  insert(memory, {1});
  insert(m.integer(0), {2});
  Value stride = m.integer(1);
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    insert(sizes[axis], {3, axis});
    insert(stride, {4, axis});
    stride = m.mul(stride, sizes[axis]);
  }
  Value cast = UnrealizedConversionCastOp::create(b, m.loc, TypeRange(type),
                                                  ValueRange(descriptor))
                   .getResult(0);
  alloc.replaceAllUsesWith(cast);
  Block *before = alloc->getBlock();
  Block *after = before->splitBlock(alloc);
  alloc.erase();
  b.setInsertionPointToEnd(&body.getBody().emplaceBlock());
  Block *fail = b.getInsertionBlock();
  Value code = arith::ConstantOp::create(b, m.loc, b.getI32IntegerAttr(1));
  func::ReturnOp::create(b, m.loc, code);
  b.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(b, m.loc, isNull, fail, after);
}

void lowerAllocations(ModuleOp module) {
  SmallVector<memref::AllocOp> allocations;
  module.walk([&](memref::AllocOp op) { allocations.push_back(op); });
  for (memref::AllocOp alloc : allocations) {
    auto body = alloc->getParentOfType<func::FuncOp>();
    Block &entry = body.getBody().front();
    if (isSmall(alloc.getType()) && alloc->getBlock() == &entry) {
      OpBuilder b(alloc);
      auto local = memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType());
      local.setAlignment(64);
      alloc.replaceAllUsesWith(local.getResult());
      alloc.erase();
    } else {
      lowerAllocation(alloc, body);
    }
  }
}

/// Copies become loops: the library function for strided ones is not linked.
void lowerCopies(ModuleOp module) {
  module.walk([](memref::CopyOp copy) {
    OpBuilder b(copy);
    if (copy.getSource() != copy.getTarget())
      linalg::CopyOp::create(b, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
}

LogicalResult expandMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathExpansion(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

} // namespace

LogicalResult lowerToLlvmDialect(ModuleOp module) {
  MLIRContext *context = module.getContext();
  if (failed(expandMath(module)))
    return failure();
  lowerCopies(module);
  PassManager loops(context);
  loops.enableVerifier(false);
  loops.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  loops.addPass(createCanonicalizerPass());
  loops.addPass(createCSEPass());
  loops.addPass(createLoopInvariantCodeMotionPass());
  loops.addPass(createSCFToControlFlowPass());
  if (failed(loops.run(module)))
    return failure();
  lowerAllocations(module);
  PassManager pm(context);
  pm.enableVerifier(false);
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false; // ln(1 + x) is 0 for small x
  pm.addPass(createConvertMathToLLVMPass(math));
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return pm.run(module);
}

} // namespace dlc::cpu
