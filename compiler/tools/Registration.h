// The dialects and passes that every textual tool knows.

#ifndef DLC_COMPILER_TOOLS_REGISTRATION_H
#define DLC_COMPILER_TOOLS_REGISTRATION_H

#include "dialects/dl/Dl.h"
#include "dialects/plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

inline void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, dl::DlDialect, plan::PlanDialect>();
}

} // namespace dlc

#endif // DLC_COMPILER_TOOLS_REGISTRATION_H
