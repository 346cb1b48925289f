// Finds attention in the graphs that exporters write.

#include "passes/Counts.h"
#include "passes/Passes.h"
#include "passes/ShapeAnalysis.h"

#include "dialects/dl/ops/Attention.h"
#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Reduce.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace dlc {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

/// The one element of a float constant.
std::optional<double> scalarOf(Value v) {
  DenseElementsAttr constant;
  if (!matchPattern(v, m_Constant(&constant)) || constant.getNumElements() != 1 ||
      !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  return (*constant.value_begin<APFloat>()).convertToDouble();
}

/// The op that makes `v`, when it is an OpTy and nobody else reads it.
template <typename OpTy> OpTy onlyProducer(Value v) {
  return v.hasOneUse() ? v.getDefiningOp<OpTy>() : OpTy();
}

/// x * c and x / c: takes the factor off `v`. The op may have other users when
/// the value is not part of the scores.
bool takeFactor(Value &v, double &factor) {
  if (auto mul = v.getDefiningOp<dl::MulOp>()) {
    for (auto [x, other] : {std::pair(mul.getLhs(), mul.getRhs()), {mul.getRhs(), mul.getLhs()}})
      if (auto c = scalarOf(other)) {
        v = x;
        factor *= *c;
        return true;
      }
  } else if (auto div = v.getDefiningOp<dl::DivOp>()) {
    if (auto c = scalarOf(div.getRhs())) {
      v = div.getLhs();
      factor /= *c;
      return true;
    }
  }
  return false;
}

/// Reads the scores backwards, from the softmax to the product.
class ScoresMatch {
public:
  ScoresMatch(ShapeAnalysis &shapes, dl::MatMulOp last) : shapes(shapes), last(last) {}

  bool run() {
    auto softmax = onlyProducer<dl::SoftmaxOp>(last.getLhs());
    auto type = cast<RankedTensorType>(last.getResult().getType());
    if (!softmax || softmax.getIsLog() || softmax.getAxis() != 3 || type.getRank() != 4 ||
        !type.getElementType().isF32() || last.getTransposeLhs() || last.getTransposeRhs())
      return false;
    softmaxOp = softmax;
    value = last.getRhs();
    Value x = softmax.getInput();
    scores = shapes.lookup(x).dims;
    takeMask(x);
    takeBias(x);
    takeSoftcap(x);
    while (x.hasOneUse() && hasScoresShape(x) && takeFactor(x, scale))
      ;
    product = onlyProducer<dl::MatMulOp>(x);
    return product && !product.getTransposeLhs() && hasScoresShape(x) && takeFactors() && fits();
  }

  Value build(OpBuilder &b) {
    Location loc = b.getFusedLoc({product.getLoc(), softmaxOp->getLoc(), last.getLoc()});
    if (isKeyTransposed)
      key = untranspose(b, loc);
    if (isMaskInverted)
      mask = dl::make<dl::NotOp>(b, loc, mask);
    auto number = [&](double v) { return b.getF64FloatAttr(v); };
    auto attention = dl::make<dl::AttentionOp>(
        b, loc, query, key, value, mask, bias, number(scale),
        softcap > 0 ? number(softcap) : FloatAttr(), UnitAttr(),
        mask ? number(maskedValue) : FloatAttr(), UnitAttr(), TypeAttr());
    if (!attention)
      return {};
    attention.getResult().setType(cast<RankedTensorType>(last.getResult().getType()));
    return attention;
  }

private:
  bool hasScoresShape(Value v) { return shapes.lookup(v).dims == scores; }

  void takeMask(Value &x) {
    auto select = onlyProducer<dl::SelectOp>(x);
    if (!select)
      return;
    for (bool inverted : {false, true}) {
      Value kept = inverted ? select.getOnFalse() : select.getOnTrue();
      auto fill = scalarOf(inverted ? select.getOnTrue() : select.getOnFalse());
      if (!fill || !hasScoresShape(kept))
        continue;
      mask = select.getCondition();
      maskedValue = *fill;
      isMaskInverted = inverted;
      x = kept;
      return;
    }
  }

  /// The other operand of the sum is the bias, whatever it is.
  void takeBias(Value &x) {
    auto add = onlyProducer<dl::AddOp>(x);
    if (!add)
      return;
    for (auto [sum, other] : {std::pair(add.getLhs(), add.getRhs()), {add.getRhs(), add.getLhs()}}) {
      Value end = sum;
      double ignored = 1;
      takeSoftcap(end);
      softcap = 0;
      while (takeFactor(end, ignored))
        ;
      if (!end.getDefiningOp<dl::MatMulOp>() || !hasScoresShape(sum))
        continue;
      bias = other;
      x = sum;
      return;
    }
  }

  /// c * tanh(x / c)
  void takeSoftcap(Value &x) {
    Value inner = x;
    double cap = 1, inverse = 1;
    if (!inner.hasOneUse() || !takeFactor(inner, cap))
      return;
    auto tanh = onlyProducer<dl::TanhOp>(inner);
    if (!tanh)
      return;
    Value capped = tanh.getInput();
    if (!capped.hasOneUse() || !takeFactor(capped, inverse) || cap <= 0 ||
        std::abs(cap * inverse - 1) > 1e-6)
      return;
    softcap = cap;
    x = capped;
  }

  /// Factors on either side of the product.
  bool takeFactors() {
    query = product.getLhs();
    key = product.getRhs();
    isKeyTransposed = !product.getTransposeRhs();
    while (takeFactor(query, scale) || takeFactor(key, scale))
      ;
    return std::isfinite(scale) && scale >= 0;
  }

  /// What dl.attention demands of shapes, and the kernel of types.
  bool fits() {
    dl::Shape q = shapes.lookup(query).dims, k = shapes.lookup(key).dims, v = shapes.lookup(value).dims;
    if (q.size() != 4 || k.size() != 4 || v.size() != 4 || q[0] != k[0] || k[0] != v[0] || k[1] != v[1])
      return false;
    auto heads = dl::constantSize(q[1]), shared = dl::constantSize(k[1]);
    if (q[1] != k[1] && !(heads && shared && *shared == 1))
      return false;
    auto isFixed = [](AffineExpr e) { return dl::constantSize(e).value_or(0) > 0; };
    auto broadcasts = [&](Value v) {
      if (!v)
        return true;
      dl::Shape dims = shapes.lookup(v).dims;
      ArrayRef<AffineExpr> tail = ArrayRef<AffineExpr>(scores).take_back(dims.size());
      return dims.size() <= 4 && llvm::all_of(llvm::zip(dims, tail), [](auto pair) {
        auto [own, wanted] = pair;
        return own == wanted || dl::constantSize(own) == 1;
      });
    };
    return isFixed(q[3]) && isFixed(v[3]) && broadcasts(mask) && broadcasts(bias);
  }

  /// The key of a product that reads it as [.., d, t].
  Value untranspose(OpBuilder &b, Location loc) {
    SmallVector<int64_t> order = {0, 1, 3, 2};
    if (auto made = key.getDefiningOp<dl::TransposeOp>()) {
      SmallVector<int64_t> joined;
      for (int64_t axis : order)
        joined.push_back(made.getPermutation()[axis]);
      if (llvm::equal(joined, llvm::seq<int64_t>(0, 4)))
        return made.getInput();
      return dl::make<dl::TransposeOp>(b, loc, made.getInput(), b.getDenseI64ArrayAttr(joined));
    }
    return dl::make<dl::TransposeOp>(b, loc, key, b.getDenseI64ArrayAttr(order));
  }

  ShapeAnalysis &shapes;
  dl::MatMulOp last, product;
  Operation *softmaxOp = nullptr;
  dl::Shape scores;
  Value query, key, value, mask, bias;
  double scale = 1, softcap = 0, maskedValue = 0;
  bool isMaskInverted = false, isKeyTransposed = false;
};

struct FuseAttention : dlc::impl::FuseAttentionBase<FuseAttention> {
  using FuseAttentionBase::FuseAttentionBase;
  void runOnOperation() override {
    auto shapes = ShapeAnalysis::run(getOperation());
    if (!shapes)
      return signalPassFailure();
    int64_t numFused = 0;
    SmallVector<dl::MatMulOp> products;
    getOperation()->walk([&](dl::MatMulOp op) { products.push_back(op); });
    for (dl::MatMulOp last : products) {
      ScoresMatch match(*shapes, last);
      if (!match.run())
        continue;
      OpBuilder b(last);
      Value attention = match.build(b);
      if (!attention)
        return signalPassFailure();
      last.getResult().replaceAllUsesWith(attention);
      ++numFused; // what is left has no users: canonicalization erases it
    }
    reportCounts(*this, getOperation(), {{"fused", numFused}});
  }
};

} // namespace
