#ifndef DLC_DIALECTS_DL_OPS_CONV_H
#define DLC_DIALECTS_DL_OPS_CONV_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Conv.h.inc"

#endif // DLC_DIALECTS_DL_OPS_CONV_H
