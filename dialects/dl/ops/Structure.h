#ifndef DLC_DIALECTS_DL_OPS_STRUCTURE_H
#define DLC_DIALECTS_DL_OPS_STRUCTURE_H

#include "dialects/dl/Dl.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Structure.h.inc"

#endif // DLC_DIALECTS_DL_OPS_STRUCTURE_H
