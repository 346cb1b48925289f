// The dialect's table of contents: every op family registers here.

#include "dialects/dl/Dl.h"

#include "dialects/dl/ops/Constant.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir; // The generated code names some upstream types unqualified.

#include "dialects/dl/DlDialect.cpp.inc"
#include "dialects/dl/DlEnums.cpp.inc"

namespace dlc::dl {
void registerConstantOps(DlDialect &dialect);
void registerElementwiseOps(DlDialect &dialect);
void registerMovementOps(DlDialect &dialect);
void registerSliceOps(DlDialect &dialect);
void registerStructureOps(DlDialect &dialect);
} // namespace dlc::dl

void dlc::dl::DlDialect::initialize() {
  registerConstantOps(*this);
  registerElementwiseOps(*this);
  registerMovementOps(*this);
  registerSliceOps(*this);
  registerStructureOps(*this);
}

Operation *dlc::dl::DlDialect::materializeConstant(OpBuilder &b, Attribute value,
                                                   Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(b, loc, type, elements);
}
