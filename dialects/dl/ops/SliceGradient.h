#ifndef DLC_DIALECTS_DL_OPS_SLICEGRADIENT_H
#define DLC_DIALECTS_DL_OPS_SLICEGRADIENT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/SliceGradient.h.inc"

#endif // DLC_DIALECTS_DL_OPS_SLICEGRADIENT_H
