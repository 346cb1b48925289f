// Tensors to buffers, and the work loop to the range that a call was given.

#include "compiler/targets/cpu/general/General.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// True when `value` is `state` with parts of it overwritten.
bool updates(Value value, Value state) {
  if (value == state)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return updates(loop.getInitArgs()[index], state);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return updates(branch.thenYield().getOperand(index), state) &&
           updates(branch.elseYield().getOperand(index), state);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return updates(cast.getSource(), state);
  if (auto store = dyn_cast<DestinationStyleOpInterface>(op))
    return updates(store.getTiedOpOperand(result)->get(), state);
  return false;
}

/// A loop that computes its new state afresh writes it over the old one. Where
/// the old state is still read, bufferization inserts a temporary.
void yieldInPlace(func::FuncOp body) {
  body.walk([](scf::ForOp loop) {
    Operation *yield = loop.getBody()->getTerminator();
    OpBuilder b(yield);
    for (auto [i, state] : llvm::enumerate(loop.getRegionIterArgs())) {
      Value next = yield->getOperand(i);
      if (!isa<RankedTensorType>(next.getType()) || updates(next, state))
        continue;
      Value written = bufferization::MaterializeInDestinationOp::create(
                          b, loop.getLoc(), state.getType(), next, state)
                          .getResult();
      yield->setOperand(i, written);
    }
  });
}

} // namespace

LogicalResult bufferizeBody(func::FuncOp body) {
  IRRewriter rewriter(body.getContext());
  yieldInPlace(body);
  if (failed(bufferization::eliminateEmptyTensors(rewriter, body)))
    return failure();
  PassManager pm(body.getContext(), "func.func");
  pm.enableVerifier(false);
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  if (failed(pm.run(body)))
    return failure();
  bufferization::OneShotBufferizationOptions oneShot;
  oneShot.allowUnknownOps = true;
  oneShot.allowReturnAllocsFromLoops = true; // state that a loop replaces
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(body, oneShot, state)))
    return failure();
  PassManager cleanup(body.getContext(), "func.func");
  cleanup.enableVerifier(false);
  cleanup.addPass(createCanonicalizerPass());
  cleanup.addPass(createCSEPass());
  cleanup.addPass(bufferization::createBufferHoistingPass());
  cleanup.addPass(bufferization::createBufferLoopHoistingPass());
  return cleanup.run(body);
}

namespace {

/// True when nothing outside the work loop writes to memory.
bool onlyLoopWrites(func::FuncOp body, scf::ForallOp loop) {
  WalkResult result = body.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == loop)
      return WalkResult::skip();
    bool writes = isa<linalg::LinalgOp, memref::CopyOp, memref::StoreOp,
                      scf::ForOp, scf::ForallOp, scf::WhileOp>(op);
    return writes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

} // namespace

bool restrictWork(func::FuncOp body) {
  scf::ForallOp work;
  body.walk([&](scf::ForallOp loop) {
    if (loop->hasAttr(kWorkAttr))
      work = loop;
  });
  if (!work)
    return !body->hasAttr(kWorkAttr);
  if (!onlyLoopWrites(body, work))
    return false;
  OpBuilder b(work);
  Location loc = work.getLoc();
  unsigned numArgs = body.getNumArguments();
  auto toIndex = [&](Value v) {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), v).getResult();
  };
  Value begin = toIndex(body.getArgument(numArgs - 2));
  Value end = toIndex(body.getArgument(numArgs - 1));
  SmallVector<Value> uppers = work.getUpperBound(b), steps = work.getStep(b);
  SmallVector<Value> counts;
  for (auto [upper, step] : llvm::zip(uppers, steps))
    counts.push_back(arith::CeilDivUIOp::create(b, loc, upper, step));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, begin, end, one);
  b.setInsertionPointToStart(loop.getBody());
  // The last loop of the nest runs fastest.
  SmallVector<Value> indices(counts.size());
  Value rest = loop.getInductionVar();
  for (size_t i = counts.size(); i-- > 0;) {
    Value position = i == 0 ? rest
                            : arith::RemUIOp::create(b, loc, rest, counts[i]).getResult();
    if (i > 0)
      rest = arith::DivUIOp::create(b, loc, rest, counts[i]);
    indices[i] = arith::MulIOp::create(b, loc, position, steps[i]);
  }
  IRMapping mapping;
  for (auto [iv, index] : llvm::zip(work.getInductionVars(), indices))
    mapping.map(iv, index);
  for (Operation &op : work.getBody()->without_terminator())
    b.clone(op, mapping);
  work.erase();
  return true;
}

} // namespace dlc::cpu
