#ifndef DLC_DIALECTS_DL_OPS_REDUCE_H
#define DLC_DIALECTS_DL_OPS_REDUCE_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Reduce.h.inc"

#endif // DLC_DIALECTS_DL_OPS_REDUCE_H
