#ifndef DLC_DIALECTS_DL_OPS_CONTROL_H
#define DLC_DIALECTS_DL_OPS_CONTROL_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Control.h.inc"

#endif // DLC_DIALECTS_DL_OPS_CONTROL_H
