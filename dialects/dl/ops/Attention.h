#ifndef DLC_DIALECTS_DL_OPS_ATTENTION_H
#define DLC_DIALECTS_DL_OPS_ATTENTION_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Attention.h.inc"

#endif // DLC_DIALECTS_DL_OPS_ATTENTION_H
