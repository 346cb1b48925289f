#ifndef DLC_DIALECTS_DL_OPS_CONSTANT_H
#define DLC_DIALECTS_DL_OPS_CONSTANT_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Constant.h.inc"

#endif // DLC_DIALECTS_DL_OPS_CONSTANT_H
