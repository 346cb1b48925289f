#ifndef DLC_DIALECTS_DL_OPS_RECURRENTGRADIENT_H
#define DLC_DIALECTS_DL_OPS_RECURRENTGRADIENT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/RecurrentGradient.h.inc"

#endif // DLC_DIALECTS_DL_OPS_RECURRENTGRADIENT_H
