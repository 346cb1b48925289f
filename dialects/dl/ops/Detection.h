#ifndef DLC_DIALECTS_DL_OPS_DETECTION_H
#define DLC_DIALECTS_DL_OPS_DETECTION_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Detection.h.inc"

#endif // DLC_DIALECTS_DL_OPS_DETECTION_H
