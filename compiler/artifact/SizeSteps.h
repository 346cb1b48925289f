// Sizes as the artifact spells them: postfix steps.

#ifndef DLC_COMPILER_ARTIFACT_SIZESTEPS_H
#define DLC_COMPILER_ARTIFACT_SIZESTEPS_H

#include "runtime/schema/artifact_generated.h"

#include "mlir/IR/AffineExpr.h"

#include <vector>

namespace dlc {

/// `expr` in postfix order. Symbols keep their positions; it has no dims.
std::vector<schema::ExprStep> toSizeSteps(mlir::AffineExpr expr);

} // namespace dlc

#endif // DLC_COMPILER_ARTIFACT_SIZESTEPS_H
