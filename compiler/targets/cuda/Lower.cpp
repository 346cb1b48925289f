// From tensors to buffers, for the printer: the general path of the CPU target up to
// bufferization, with memrefs instead of a machine's calling convention.

#include "compiler/targets/cuda/Kernel.h"

#include "compiler/targets/KernelDialects.h"
#include "compiler/targets/cpu/general/General.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cuda {

DialectRegistry &kernelRegistry() {
  static DialectRegistry instance = [] {
    DialectRegistry r;
    registerKernelDialects(r);
    r.insert<kernel::KernelDialect>();
    return r;
  }();
  return instance;
}

namespace {

MemRefType memrefOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// The same function with memrefs for its tensors.
func::FuncOp wrap(ModuleOp module, func::FuncOp kernel, StringRef name) {
  OpBuilder b(module.getBodyRegion());
  Location loc = kernel.getLoc();
  SmallVector<Type> inputs;
  for (Type type : kernel.getArgumentTypes())
    inputs.push_back(isa<RankedTensorType>(type) ? Type(memrefOf(type)) : type);
  unsigned numArguments = inputs.size();
  for (Type type : kernel.getResultTypes())
    inputs.push_back(memrefOf(type));
  auto body = func::FuncOp::create(b, loc, name, b.getFunctionType(inputs, {}));
  Block *entry = body.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  Block &source = kernel.getBody().front();
  for (unsigned i = 0; i < numArguments; ++i) {
    Value argument = source.getArgument(i), buffer = entry->getArgument(i);
    if (Attribute dims = kernel.getArgAttr(i, "dl.dims"))
      body.setArgAttr(i, "dl.dims", dims);
    mapping.map(argument, isa<RankedTensorType>(argument.getType())
                              ? bufferization::ToTensorOp::create(b, loc, argument.getType(),
                                                                  buffer, /*restrict=*/true)
                                    .getResult()
                              : buffer);
  }
  for (Operation &op : source.without_terminator())
    b.clone(op, mapping);
  for (auto [i, result] : llvm::enumerate(source.getTerminator()->getOperands())) {
    body.setArgAttr(numArguments + i, "dl.dims", kernel.getResultAttr(i, "dl.dims"));
    auto store = bufferization::MaterializeInDestinationOp::create(
        b, loc, Type(), mapping.lookup(result), entry->getArgument(numArguments + i));
    store.setRestrict(true);
    store.setWritable(true);
  }
  func::ReturnOp::create(b, loc);
  kernel.erase();
  return body;
}

LogicalResult generalize(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitError("cannot be printed as CUDA: ") << op->getName();
  }
  return success();
}

} // namespace

func::FuncOp lowerToBuffers(ModuleOp module, StringRef name) {
  auto kernel = *module.getOps<func::FuncOp>().begin();
  if (failed(cpu::simplifyLinalg(kernel)))
    return {};
  foldPadding(kernel);
  simplifyMaps(kernel);
  splitReductions(kernel);
  func::FuncOp body = wrap(module, kernel, name);
  if (failed(cpu::bufferizeBody(body)))
    return {};
  cpu::reuseBuffers(body);
  return succeeded(generalize(body)) ? body : func::FuncOp();
}

} // namespace dlc::cuda
