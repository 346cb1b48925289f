#ifndef DLC_DIALECTS_DL_OPS_PATCHES_H
#define DLC_DIALECTS_DL_OPS_PATCHES_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/Patches.h.inc"

#endif // DLC_DIALECTS_DL_OPS_PATCHES_H
