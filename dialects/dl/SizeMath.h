// Arithmetic on symbolic sizes that op families share: quotients that cancel,
// and what can be proven about a size. Sizes and symbols are never negative.

#ifndef DLC_DIALECTS_DL_SIZEMATH_H
#define DLC_DIALECTS_DL_SIZEMATH_H

#include "dialects/dl/Infer.h"

namespace dlc::dl {

/// True when `expr` can be proven to be >= 0.
bool isNonNegative(mlir::AffineExpr expr);

/// `expr` with equal terms collected.
mlir::AffineExpr collectTerms(mlir::AffineExpr expr);

/// product(numerator) / product(denominator), with common factors cancelled.
/// `isExact` (if given) says whether the division is known to leave no rest.
mlir::AffineExpr quotient(llvm::ArrayRef<mlir::AffineExpr> numerator,
                          llvm::ArrayRef<mlir::AffineExpr> denominator,
                          mlir::MLIRContext *context, bool *isExact = nullptr);

/// Demands `size` >= `bound` (>= 0): an error when that is known to be false, a
/// check of the run when it is not known to be true.
llvm::LogicalResult demandAtLeast(InferContext &c, mlir::AffineExpr size,
                                  mlir::AffineExpr bound, const llvm::Twine &what);

/// The elements of a tensor whose size is static and at most
/// kMaxTrackedElements; those that are not known are null. None: not such a tensor.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
trackedElements(const TensorInfo &info);

/// The number of elements when it is static and small enough to track.
std::optional<int64_t> trackableCount(llvm::ArrayRef<mlir::AffineExpr> dims);

/// The length of an i64 vector operand called `name`; an error for others.
mlir::FailureOr<int64_t> shapeOperandLength(InferContext &c, const TensorInfo &info,
                                            llvm::StringRef name);

/// The elements of a tensor that is constant at this place of the program.
std::optional<llvm::SmallVector<int64_t>> constantElements(mlir::Value tensor);

/// Demands that the known ones of `indices` lie in [-size, size).
llvm::LogicalResult demandIndices(InferContext &c, const TensorInfo &indices,
                                  mlir::AffineExpr size);

/// Resolves an axis that may count from the end; an error when out of range.
mlir::FailureOr<int64_t> resolveAxis(InferContext &c, int64_t axis, int64_t rank);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_SIZEMATH_H
