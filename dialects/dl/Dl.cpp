// The dialect's table of contents: every op family registers here.

#include "dialects/dl/Dl.h"

#include "dialects/dl/ops/Constant.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir; // The generated code names some upstream types unqualified.

#include "dialects/dl/DlDialect.cpp.inc"
#include "dialects/dl/DlEnums.cpp.inc"

// Families.inc has one DL_FAMILY(Name) per entry of DL_FAMILIES in CMakeLists.txt.
namespace dlc::dl {
#define DL_FAMILY(name) void register##name##Ops(DlDialect &dialect);
#include "dialects/dl/Families.inc"
#undef DL_FAMILY
} // namespace dlc::dl

void dlc::dl::DlDialect::initialize() {
#define DL_FAMILY(name) register##name##Ops(*this);
#include "dialects/dl/Families.inc"
#undef DL_FAMILY
}

Operation *dlc::dl::DlDialect::materializeConstant(OpBuilder &b, Attribute value,
                                                   Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(b, loc, type, elements);
}
