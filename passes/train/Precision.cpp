#include "passes/train/Precision.h"

#include "passes/train/Emitter.h"

using namespace mlir;

namespace dlc {

namespace {

/// The sums of fewer elements round little.
constexpr int64_t kFewestWidened = 64;

/// True if every axis of `axes`, counted in a tensor of the given rank, has the size 1 in
/// `value` or is missing there.
bool isConstantAlong(Value value, ArrayRef<int64_t> axes, int64_t rank) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t missing = rank - type.getRank();
  return llvm::all_of(axes, [&](int64_t axis) {
    return axis < missing || type.getDimSize(axis - missing) == 1;
  });
}

/// What is left of `sum` without an addend that is constant along `axes`; null if none is.
Value withoutConstantAddend(Value sum, ArrayRef<int64_t> axes) {
  auto add = sum.getDefiningOp<dl::AddOp>();
  if (!add)
    return {};
  int64_t rank = Emitter::type(sum).getRank();
  for (auto [kept, dropped] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
    if (kept.getType() == sum.getType() && isConstantAlong(dropped, axes, rank))
      return kept;
  return {};
}

bool isSum(dl::ReduceOp reduce) {
  dl::ReduceKind kind = reduce.getKind();
  return kind == dl::ReduceKind::sum || kind == dl::ReduceKind::mean || kind == dl::ReduceKind::sum_square;
}

/// Sizes that are not known count as many.
bool isLong(dl::ReduceOp reduce) {
  int64_t count = 1;
  for (int64_t axis : reduce.getAxes()) {
    int64_t size = Emitter::type(reduce.getInput()).getDimSize(axis);
    if (ShapedType::isDynamic(size) || (count *= std::min(size, kFewestWidened)) >= kFewestWidened)
      return true;
  }
  return false;
}

} // namespace

void cancelBiasInNormalizations(func::FuncOp function) {
  SmallVector<dl::SubOp> differences;
  function.walk([&](dl::SubOp op) { differences.push_back(op); });
  for (dl::SubOp op : differences) {
    auto mean = op.getRhs().getDefiningOp<dl::ReduceOp>();
    if (!mean || mean.getKind() != dl::ReduceKind::mean || !mean.getKeepDims() ||
        mean.getInput() != op.getLhs())
      continue;
    Value x = withoutConstantAddend(op.getLhs(), mean.getAxes());
    if (!x)
      continue;
    OpBuilder b(op);
    Emitter e(b, op.getLoc());
    Value centred = e.sub(x, e.reduce(dl::ReduceKind::mean, x, mean.getAxes(), /*keepDims=*/true));
    op.replaceAllUsesWith(centred);
    op.erase();
  }
}

void widenSums(func::FuncOp function) {
  SmallVector<dl::ReduceOp> sums;
  function.walk([&](dl::ReduceOp op) {
    if (isSum(op) && Emitter::element(op).isF32() && isLong(op))
      sums.push_back(op);
  });
  for (dl::ReduceOp op : sums) {
    OpBuilder b(op);
    Emitter e(b, op.getLoc());
    Value wide = e.reduce(op.getKind(), e.cast(op.getInput(), b.getF64Type()), op.getAxes(), op.getKeepDims());
    op.replaceAllUsesWith(e.cast(wide, b.getF32Type()));
    op.erase();
  }
}

} // namespace dlc
