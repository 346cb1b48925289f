#include "passes/train/MixedPrecision.h"

#include "dialects/dl/ops/Conv.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"

#include "mlir/IR/IRMapping.h"

#include <limits>

using namespace mlir;

namespace dlc {

namespace {

constexpr StringLiteral kScale = "loss.scale", kGoodUpdates = "loss.scale.updates";
constexpr double kFirstScale = 65536, kGrowth = 2, kBackoff = 0.5;
/// Gradients that are all 0, or never finite, must not take the scale to infinity or to 0.
constexpr double kLeastScale = 0x1p-24, kMostScale = 0x1p32;
constexpr int64_t kUpdatesToGrow = 2000;

bool holdsF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

class Lowering {
public:
  Lowering(func::FuncOp function, const PrecisionOptions &options)
      : function(function), options(options), b(function.getContext()),
        narrow(options.compute == Precision::F16 ? Type(b.getF16Type()) : Type(b.getBF16Type())) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getBody().front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops)
      if (isNarrowOp(op) || (isMovement(op) && movesNarrow(op)))
        computeNarrow(op);
  }

private:
  bool isNarrowOp(Operation *op) const {
    return isa<dl::MatMulOp, dl::ConvOp, dl::ConvTransposeOp>(op) && holdsF32(op->getResult(0)) &&
           !llvm::is_contained(options.wideOps, op->getName().stripDialect().str());
  }

  static bool isMovement(Operation *op) {
    return isa<dl::ReshapeOp, dl::TransposeOp, dl::ExpandOp>(op);
  }

  bool movesNarrow(Operation *op) const { return bool(narrowForm(op->getOperand(0))); }

  /// What a widening cast of ours was made of.
  Value narrowForm(Value value) const {
    auto cast = value.getDefiningOp<dl::CastOp>();
    return cast && holdsF32(value) && Emitter::element(cast.getInput()) == narrow ? cast.getInput() : Value();
  }

  void computeNarrow(Operation *op) {
    b.setInsertionPoint(op);
    Emitter e(b, op->getLoc());
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (holdsF32(operand))
        mapping.map(operand, narrowed(e, operand));
    Operation *lowered = b.clone(*op, mapping);
    Value result = lowered->getResult(0);
    result.setType(Emitter::type(result).clone(narrow));
    op->getResult(0).replaceAllUsesWith(e.cast(result, b.getF32Type()));
    op->erase();
  }

  /// One cast of a value serves all that read it.
  Value narrowed(Emitter &e, Value value) {
    if (Value known = narrowForm(value))
      return known;
    Value &made = casts[value];
    return made ? made : made = e.cast(value, narrow);
  }

  func::FuncOp function;
  const PrecisionOptions &options;
  OpBuilder b;
  Type narrow;
  llvm::DenseMap<Value, Value> casts;
};

} // namespace

void lowerPrecision(func::FuncOp function, const PrecisionOptions &options) {
  if (options.compute != Precision::F32)
    Lowering(function, options).run();
}

LossScale::LossScale(StepBuilder &s, const PrecisionOptions &options)
    : s(s), isOn(options.compute == Precision::F16) {
  if (!isOn)
    return;
  auto type = RankedTensorType::get({}, s.builder().getF32Type());
  auto first = DenseElementsAttr::get(type, static_cast<float>(kFirstScale));
  scale = s.state(s.builder().getStringAttr(kScale), type, "scale", first);
}

Value LossScale::seed(Value loss) {
  return isOn ? s.emit().cast(scale, Emitter::element(loss)) : Value();
}

void LossScale::unscale(MutableArrayRef<Value> gradients) {
  if (!isOn)
    return;
  // A power of two: multiplying by its inverse is exact.
  Value inverse = s.emit().div(s.emit().scalar(scale, 1), scale);
  for (Value &gradient : gradients)
    if (gradient)
      gradient = s.emit().mul(gradient, s.emit().cast(inverse, Emitter::element(gradient)));
}

void LossScale::check(ArrayRef<Value> gradients) {
  if (!isOn)
    return;
  Emitter &e = s.emit();
  Value largest = e.scalar(scale, 0);
  for (Value gradient : gradients) {
    if (!gradient)
      continue;
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, Emitter::type(gradient).getRank()));
    // A maximum keeps NaN.
    Value most = e.reduce(dl::ReduceKind::max, e.abs(gradient), axes, /*keepDims=*/false);
    largest = e.make<dl::MaxOp>(largest, e.cast(most, Emitter::element(scale)));
  }
  double infinity = std::numeric_limits<double>::infinity();
  isFinite = e.compare(dl::Comparison::lt, largest, e.scalar(scale, infinity));
  BlockArgument good = s.counter(kGoodUpdates);
  Value next = e.add(good, e.integer(1));
  Value grows = e.compare(dl::Comparison::ge, next, e.integer(kUpdatesToGrow));
  Value kept = e.select(grows, e.mul(scale, kGrowth), scale);
  Value moved = e.select(isFinite, kept, e.mul(scale, kBackoff));
  s.update(scale, e.max(e.min(moved, kMostScale), kLeastScale));
  Value counted = e.select(grows, e.integer(0), next);
  s.update(good, e.select(isFinite, counted, e.integer(0)));
}

Value LossScale::guarded(Value now, Value before) {
  return isFinite && now ? s.emit().select(isFinite, now, before) : now;
}

} // namespace dlc
