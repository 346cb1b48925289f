// Verification of structural ops.

#include "dialects/dl/ops/Structure.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Structure.cpp.inc"

namespace dlc::dl {

void registerStructureOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Structure.cpp.inc"
      >();
}

LogicalResult KernelOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes()) // C1
    return emitOpError("body arguments differ from the operands in type");
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getValues().getTypes() != getOutputs().getTypes()) // C2
    return emitOpError("yielded values differ from the results in type");
  return success();
}

} // namespace dlc::dl
