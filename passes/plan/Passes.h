// Registration of the passes on plans.

#ifndef DLC_PASSES_PLAN_PASSES_H
#define DLC_PASSES_PLAN_PASSES_H

#include "dialects/plan/Plan.h"

#include "mlir/Pass/Pass.h"

namespace dlc::plan {
#define GEN_PASS_DECL
#include "passes/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"
} // namespace dlc::plan

#endif // DLC_PASSES_PLAN_PASSES_H
