#ifndef DLC_DIALECTS_DL_OPS_RANDOM_H
#define DLC_DIALECTS_DL_OPS_RANDOM_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Random.h.inc"

#endif // DLC_DIALECTS_DL_OPS_RANDOM_H
