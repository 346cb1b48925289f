#ifndef DLC_DIALECTS_DL_OPS_RESAMPLE_H
#define DLC_DIALECTS_DL_OPS_RESAMPLE_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Resample.h.inc"

#endif // DLC_DIALECTS_DL_OPS_RESAMPLE_H
