#ifndef DLC_DIALECTS_DL_OPS_MATMUL_H
#define DLC_DIALECTS_DL_OPS_MATMUL_H

#include "dialects/dl/Dl.h"

#define GET_OP_CLASSES
#include "dialects/dl/ops/MatMul.h.inc"

#endif // DLC_DIALECTS_DL_OPS_MATMUL_H
