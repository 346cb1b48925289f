#ifndef DLC_DIALECTS_DL_OPS_ELEMENTWISE_H
#define DLC_DIALECTS_DL_OPS_ELEMENTWISE_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Elementwise.h.inc"

#endif // DLC_DIALECTS_DL_OPS_ELEMENTWISE_H
