#ifndef DLC_DIALECTS_DL_OPS_SCATTER_H
#define DLC_DIALECTS_DL_OPS_SCATTER_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Scatter.h.inc"

#endif // DLC_DIALECTS_DL_OPS_SCATTER_H
