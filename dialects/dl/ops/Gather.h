#ifndef DLC_DIALECTS_DL_OPS_GATHER_H
#define DLC_DIALECTS_DL_OPS_GATHER_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Gather.h.inc"

#endif // DLC_DIALECTS_DL_OPS_GATHER_H
