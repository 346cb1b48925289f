// Options and registration of the passes that make a program train.

#ifndef DLC_PASSES_TRAIN_PASSES_H
#define DLC_PASSES_TRAIN_PASSES_H

#include "dialects/dl/Dl.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dlc::train {
#define GEN_PASS_DECL
#include "passes/train/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/train/Passes.h.inc"
} // namespace dlc::train

#endif // DLC_PASSES_TRAIN_PASSES_H
