// From a function of kernels to a plan: buffers, dispatches, copies.

#ifndef DLC_COMPILER_LOWERTOPLAN_H
#define DLC_COMPILER_LOWERTOPLAN_H

#include "compiler/KernelSources.h"

#include "dialects/plan/Plan.h"

namespace dlc {

/// Builds a plan.program at the end of the module. `function` consists of
/// kernels, views and constants; its arguments and results carry `dl.name`, or
/// `dl.state` (see passes/States.h).
mlir::FailureOr<plan::ProgramOp> lowerToPlan(mlir::func::FuncOp function,
                                             KernelSources &sources);

} // namespace dlc

#endif // DLC_COMPILER_LOWERTOPLAN_H
