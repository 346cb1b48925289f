#ifndef DLC_DIALECTS_DL_OPS_MOVEMENT_H
#define DLC_DIALECTS_DL_OPS_MOVEMENT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Movement.h.inc"

#endif // DLC_DIALECTS_DL_OPS_MOVEMENT_H
