#ifndef DLC_DIALECTS_DL_OPS_POOL_H
#define DLC_DIALECTS_DL_OPS_POOL_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Pool.h.inc"

#endif // DLC_DIALECTS_DL_OPS_POOL_H
