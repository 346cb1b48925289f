#ifndef DLC_DIALECTS_DL_OPS_POOLGRADIENT_H
#define DLC_DIALECTS_DL_OPS_POOLGRADIENT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/PoolGradient.h.inc"

#endif // DLC_DIALECTS_DL_OPS_POOLGRADIENT_H
