#include "passes/train/BuildGradients.h"

#include "passes/train/Passes.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Movement.h"

namespace dlc::train {
#define GEN_PASS_DEF_BUILDGRADIENTS
#include "passes/train/Passes.h.inc"
} // namespace dlc::train

using namespace mlir;

namespace dlc {

namespace {

bool holdsFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Every value that `op` reads, also from inside its regions.
void forEachOperand(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
}

class ReverseMode {
public:
  ReverseMode(Value loss, ArrayRef<Value> wrt, OpBuilder &b)
      : loss(loss), wrt(wrt.begin(), wrt.end()), b(b), block(b.getInsertionBlock()) {}

  FailureOr<SmallVector<Value>> run(Value seed) {
    auto type = dyn_cast<RankedTensorType>(loss.getType());
    if (!holdsFloats(loss) || !type.hasStaticShape() || type.getNumElements() != 1)
      return emitError(loss.getLoc()) << "loss has the type " << loss.getType()
                                      << ", expects one float";
    collectPath();
    if (failed(decomposePath()))
      return failure();
    Operation *before = b.getInsertionPoint() == block->begin()
                            ? nullptr : &*std::prev(b.getInsertionPoint());
    grads[loss] = seed ? seed : one(type);
    for (Operation *op : llvm::reverse(path))
      if (failed(differentiate(op)))
        return failure();
    SmallVector<Value> result;
    for (Value value : wrt)
      result.push_back(ofType(grads.lookup(value), value));
    eraseUnused(before, result);
    return result;
  }

private:
  /// The ops that depend on `wrt` and that the loss depends on, in order.
  void collectPath() {
    active.clear();
    path.clear();
    active.insert_range(wrt);
    SmallVector<Operation *> reached;
    for (Operation &op : llvm::make_range(block->begin(), b.getInsertionPoint())) {
      bool isReached = false;
      forEachOperand(&op, [&](Value v) { isReached |= active.contains(v); });
      if (!isReached)
        continue;
      reached.push_back(&op);
      active.insert_range(llvm::make_filter_range(op.getResults(), holdsFloats));
    }
    llvm::DenseSet<Value> wanted = {loss};
    for (Operation *op : llvm::reverse(reached)) {
      if (llvm::none_of(op->getResults(), [&](Value v) { return wanted.contains(v) && active.contains(v); }))
        continue;
      path.push_back(op);
      forEachOperand(op, [&](Value v) { wanted.insert(v); });
    }
    std::reverse(path.begin(), path.end());
  }

  /// A composite op without a gradient of its own is differentiated as what it is
  /// made of. It stays, unused, for those who hold its results.
  LogicalResult decomposePath() {
    bool isChanged = false;
    for (Operation *op : path) {
      auto composite = dyn_cast<dl::Decomposes>(op);
      if (!composite || isa<dl::Differentiable>(op))
        continue;
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(op);
      auto parts = composite.decompose(b);
      if (failed(parts))
        return failure();
      for (auto [result, part] : llvm::zip_equal(op->getResults(), *parts)) {
        llvm::replace(wrt, Value(result), part);
        loss = loss == result ? part : loss;
        result.replaceAllUsesWith(part);
      }
      isChanged = true;
    }
    if (!isChanged)
      return success();
    collectPath();
    return decomposePath();
  }

  LogicalResult differentiate(Operation *op) {
    SmallVector<Value> incoming;
    for (Value result : op->getResults())
      incoming.push_back(grads.lookup(result));
    if (llvm::none_of(incoming, [](Value v) { return bool(v); }))
      return success();
    auto differentiable = dyn_cast<dl::Differentiable>(op);
    if (!differentiable)
      return op->emitOpError("has no gradient, and the loss depends on the trained values through it");
    auto isNeeded = [&](Value v) { return active.contains(v); };
    dl::GradientBuilder g(b, op, isNeeded);
    auto outgoing = differentiable.buildGradient(g, incoming);
    if (failed(outgoing) || g.hasFailed())
      return failure();
    for (auto [operand, grad] : llvm::zip_equal(op->getOperands(), *outgoing))
      if (grad && active.contains(operand))
        accumulate(operand, grad);
    return success();
  }

  void accumulate(Value value, Value grad) {
    Value &sum = grads[value];
    sum = sum ? Value(dl::make<dl::AddOp>(b, value.getLoc(), sum, grad)) : grad;
  }

  Value one(RankedTensorType type) {
    auto value = DenseElementsAttr::get(type, Attribute(b.getFloatAttr(type.getElementType(), 1)));
    return dl::ConstantOp::create(b, loss.getLoc(), type, value);
  }

  /// `grad` with the sizes that the type of `value` states.
  Value ofType(Value grad, Value value) {
    if (!grad || grad.getType() == value.getType())
      return grad;
    OpBuilder::InsertionGuard guard(b);
    auto isNeeded = [](Value) { return true; };
    Operation *def = grad.getDefiningOp();
    dl::GradientBuilder g(b, def ? def : block->getParentOp(), isNeeded);
    return g.reshapeLike(grad, value);
  }

  /// Erases what was emitted after `before` for operands that nobody needs.
  void eraseUnused(Operation *before, ArrayRef<Value> results) {
    llvm::DenseSet<Value> kept(results.begin(), results.end());
    auto it = b.getInsertionPoint();
    while (it != block->begin() && &*std::prev(it) != before) {
      Operation &op = *std::prev(it);
      bool isKept = llvm::any_of(op.getResults(), [&](Value v) { return kept.contains(v); });
      if (!isKept && isOpTriviallyDead(&op))
        op.erase();
      else
        --it;
    }
  }

  Value loss;
  SmallVector<Value> wrt;
  OpBuilder &b;
  Block *block;
  llvm::DenseSet<Value> active; // depends on `wrt`
  SmallVector<Operation *> path;
  llvm::DenseMap<Value, Value> grads;
};

struct BuildGradients : train::impl::BuildGradientsBase<BuildGradients> {
  using BuildGradientsBase::BuildGradientsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getBody().hasOneBlock() || function.getNumResults() == 0) {
      function.emitError("has no single block that returns a loss");
      return signalPassFailure();
    }
    SmallVector<Value> chosen;
    for (unsigned index : wrt) {
      if (index >= function.getNumArguments() || !holdsFloats(function.getArgument(index))) {
        function.emitError() << "has no argument " << index << " of floats";
        return signalPassFailure();
      }
      chosen.push_back(function.getArgument(index));
    }
    if (chosen.empty())
      llvm::copy_if(function.getArguments(), std::back_inserter(chosen), holdsFloats);
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder b(end);
    auto grads = buildGradients(end->getOperand(0), chosen, b);
    if (failed(grads))
      return signalPassFailure();
    for (auto [value, grad] : llvm::zip(chosen, *grads))
      end->insertOperands(end->getNumOperands(), grad ? grad : zeros(b, value));
    function.setType(b.getFunctionType(function.getArgumentTypes(), end->getOperandTypes()));
  }

  static Value zeros(OpBuilder &b, Value like) {
    auto isNeeded = [](Value) { return true; };
    dl::GradientBuilder g(b, b.getInsertionBlock()->getParentOp(), isNeeded);
    return g.expandLike(g.zero(like), like);
  }
};

} // namespace

FailureOr<SmallVector<Value>> buildGradients(Value loss, ArrayRef<Value> wrt, OpBuilder &b,
                                             Value seed) {
  return ReverseMode(loss, wrt, b).run(seed);
}

} // namespace dlc
