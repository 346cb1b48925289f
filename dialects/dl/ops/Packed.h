#ifndef DLC_DIALECTS_DL_OPS_PACKED_H
#define DLC_DIALECTS_DL_OPS_PACKED_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Packed.h.inc"

#endif // DLC_DIALECTS_DL_OPS_PACKED_H
