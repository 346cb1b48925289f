// Indexing maps with what the sizes of the loops say: d floordiv 32 is 0 and d mod 32
// is d where d < 32. A filter of one group then no longer seems to depend on it.

#include "compiler/targets/cuda/Kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

struct Range {
  int64_t low, high; // both included
};

class Simplifier {
public:
  explicit Simplifier(ArrayRef<int64_t> loopSizes) : loopSizes(loopSizes) {}

  AffineExpr simplify(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return expr;
    AffineExpr a = simplify(binary.getLHS()), b = simplify(binary.getRHS());
    auto divisor = dyn_cast<AffineConstantExpr>(b);
    auto range = rangeOf(a);
    bool isBelow = divisor && range && range->low >= 0 && range->high < divisor.getValue();
    switch (expr.getKind()) {
    case AffineExprKind::FloorDiv:
      return isBelow ? getAffineConstantExpr(0, expr.getContext()) : a.floorDiv(b);
    case AffineExprKind::Mod:
      return isBelow ? a : a % b;
    case AffineExprKind::CeilDiv:
      return a.ceilDiv(b);
    case AffineExprKind::Mul:
      return a * b;
    default:
      return a + b;
    }
  }

private:
  std::optional<Range> rangeOf(AffineExpr expr) {
    if (auto c = dyn_cast<AffineConstantExpr>(expr))
      return Range{c.getValue(), c.getValue()};
    if (auto d = dyn_cast<AffineDimExpr>(expr)) {
      int64_t size = loopSizes[d.getPosition()];
      if (ShapedType::isDynamic(size) || size <= 0)
        return std::nullopt;
      return Range{0, size - 1};
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return std::nullopt;
    auto a = rangeOf(binary.getLHS()), b = rangeOf(binary.getRHS());
    if (!a || !b || a->low < 0 || b->low < 0)
      return std::nullopt;
    switch (expr.getKind()) {
    case AffineExprKind::Add: return Range{a->low + b->low, a->high + b->high};
    case AffineExprKind::Mul: return Range{a->low * b->low, a->high * b->high};
    case AffineExprKind::FloorDiv:
      return b->low > 0 ? std::optional(Range{a->low / b->high, a->high / b->low}) : std::nullopt;
    case AffineExprKind::Mod:
      return b->low > 0 ? std::optional(Range{0, std::min(a->high, b->high - 1)}) : std::nullopt;
    default: return std::nullopt;
    }
  }

  ArrayRef<int64_t> loopSizes;
};

} // namespace

void simplifyMaps(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    Simplifier simplifier(sizes);
    SmallVector<AffineMap> maps;
    for (AffineMap map : op.getIndexingMapsArray()) {
      SmallVector<AffineExpr> results;
      for (AffineExpr expr : map.getResults())
        results.push_back(simplifier.simplify(expr));
      maps.push_back(AffineMap::get(map.getNumDims(), 0, results, op.getContext()));
    }
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  });
}

} // namespace dlc::cuda
