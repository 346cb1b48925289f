// The elementwise tail of a kernel as a function of scalars: what the CPU
// target's generators apply to a result before they store it.

#ifndef DLC_COMPILER_EPILOGUESOURCE_H
#define DLC_COMPILER_EPILOGUESOURCE_H

#include "dialects/dl/ops/Structure.h"
#include "passes/ShapeAnalysis.h"

#include <optional>
#include <string>

namespace dlc {

struct EpilogueSource {
  /// func.func(result, operands...) -> element, all f32; as text, since the
  /// kernel is emitted on a context of its own.
  std::string text;
  llvm::SmallVector<mlir::Value> operands; // arguments of the kernel
};

/// The ops of `kernel` other than `root`. None when one of them is not an
/// elementwise op over f32 of the shape of root's result.
std::optional<EpilogueSource> toEpilogue(dl::KernelOp kernel, mlir::Operation *root,
                                         ShapeAnalysis &shapes);

/// The one op that is neither elementwise nor a constant; null when there are
/// several, or several results.
mlir::Operation *findRoot(dl::KernelOp kernel);

/// The function in `text`, in the context of `at`.
mlir::OwningOpRef<mlir::ModuleOp> parseEpilogue(llvm::StringRef text, mlir::MLIRContext *context);

/// Gives a kernel's sizes, which are expressions over the program's symbols,
/// numbers of their own.
class LocalSizes {
public:
  explicit LocalSizes(mlir::MLIRContext *context) : context(context) {}
  mlir::AffineExpr add(mlir::AffineExpr expr);
  /// A map of expressions over the local numbers, as text.
  std::string mapText(llvm::ArrayRef<mlir::AffineExpr> exprs) const;

  llvm::SmallVector<mlir::AffineExpr> sizes;

private:
  mlir::MLIRContext *context;
};

/// The expressions that LocalSizes::mapText wrote, in another context.
llvm::SmallVector<mlir::AffineExpr> parseMap(llvm::StringRef text, mlir::MLIRContext *context);

} // namespace dlc

#endif // DLC_COMPILER_EPILOGUESOURCE_H
