#ifndef DLC_DIALECTS_DL_OPS_SEQUENCE_H
#define DLC_DIALECTS_DL_OPS_SEQUENCE_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Sequence.h.inc"

#endif // DLC_DIALECTS_DL_OPS_SEQUENCE_H
