#include "compiler/artifact/SizeSteps.h"

using namespace mlir;

namespace dlc {

static void flatten(AffineExpr expr, std::vector<schema::ExprStep> &steps) {
  using Code = schema::ExprCode;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return steps.emplace_back(Code::Const, constant.getValue()), void();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return steps.emplace_back(Code::Symbol, symbol.getPosition()), void();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  flatten(binary.getLHS(), steps);
  flatten(binary.getRHS(), steps);
  Code code = Code::Add;
  switch (expr.getKind()) {
  case AffineExprKind::Add: code = Code::Add; break;
  case AffineExprKind::Mul: code = Code::Mul; break;
  case AffineExprKind::FloorDiv: code = Code::FloorDiv; break;
  case AffineExprKind::CeilDiv: code = Code::CeilDiv; break;
  default: code = Code::Mod; break;
  }
  steps.emplace_back(code, 0);
}

std::vector<schema::ExprStep> toSizeSteps(AffineExpr expr) {
  std::vector<schema::ExprStep> steps;
  flatten(expr, steps);
  return steps;
}

} // namespace dlc
