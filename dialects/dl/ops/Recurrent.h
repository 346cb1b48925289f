#ifndef DLC_DIALECTS_DL_OPS_RECURRENT_H
#define DLC_DIALECTS_DL_OPS_RECURRENT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Recurrent.h.inc"

#endif // DLC_DIALECTS_DL_OPS_RECURRENT_H
