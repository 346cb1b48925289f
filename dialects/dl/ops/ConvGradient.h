#ifndef DLC_DIALECTS_DL_OPS_CONVGRADIENT_H
#define DLC_DIALECTS_DL_OPS_CONVGRADIENT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/ConvGradient.h.inc"

#endif // DLC_DIALECTS_DL_OPS_CONVGRADIENT_H
