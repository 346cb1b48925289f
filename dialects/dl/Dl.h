// The dialect and its interfaces. Ops: one header per family in ops/.

#ifndef DLC_DIALECTS_DL_DL_H
#define DLC_DIALECTS_DL_DL_H

#include "dialects/dl/Infer.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dlc::dl {
class GradientBuilder;
class LinalgLowering;

/// How an op may share a kernel with its neighbours.
enum class FusionRole {
  Elementwise, // joins its producer or its consumer
  Reduction,   // takes elementwise producers and, on its result, consumers
  Contraction, // takes elementwise consumers of its result (an epilogue)
  View,        // no work: the result is operand 0 with another shape
  Opaque       // a kernel of its own
};
FusionRole defaultFusionRole(mlir::Operation *op);
bool hasRankOfResult(mlir::Operation *op, unsigned operand);
/// True when `perm` takes N,C,spatial.. to N,spatial..,C.
bool movesChannelsLast(llvm::ArrayRef<int64_t> perm);

/// LowersToLinalg's default, for Elementwise ops.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
lowerElementwise(mlir::Operation *op, LinalgLowering &l);
} // namespace dlc::dl

#include "dialects/dl/DlDialect.h.inc"
#include "dialects/dl/DlEnums.h.inc"
#include "dialects/dl/DlInterfaces.h.inc"

namespace dlc::dl {

/// Builds `OpTy` with inferred result types; arguments as OpTy::create without
/// the result type. Null, with an error emitted, when the operands do not fit.
template <typename OpTy, typename... Args>
OpTy make(mlir::OpBuilder &b, mlir::Location loc, Args &&...args) {
  auto op = OpTy::create(b, loc, mlir::Type(b.getNoneType()),
                         std::forward<Args>(args)...);
  if (mlir::succeeded(refineResultTypes(op)))
    return op;
  op->erase();
  return nullptr;
}

/// The same for ops with several results.
template <typename OpTy, typename... Args>
OpTy makeMulti(mlir::OpBuilder &b, mlir::Location loc, unsigned numResults,
               Args &&...args) {
  llvm::SmallVector<mlir::Type> types(numResults, b.getNoneType());
  auto op = OpTy::create(b, loc, mlir::TypeRange(types),
                         std::forward<Args>(args)...);
  if (mlir::succeeded(refineResultTypes(op)))
    return op;
  op->erase();
  return nullptr;
}

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_DL_H
