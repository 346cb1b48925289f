// Symbolic shapes: what InferType implementations read and write. A size is an
// AffineExpr: a constant, or arithmetic over symbols s0, s1, ....

#ifndef DLC_DIALECTS_DL_INFER_H
#define DLC_DIALECTS_DL_INFER_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace dlc::dl {

using Shape = llvm::SmallVector<mlir::AffineExpr>;

/// Contents of integer tensors are tracked up to this many elements.
inline constexpr int64_t kMaxTrackedElements = 64;

/// What is known about one tensor.
struct TensorInfo {
  Shape dims;
  mlir::Type element;
  /// The elements of a small integer tensor, row-major; a null element is one
  /// that sizes cannot express. None: not tracked.
  std::optional<llvm::SmallVector<mlir::AffineExpr>> contents;

  int64_t rank() const { return dims.size(); }
};

/// Where sizes that no expression gives come from. Implemented by the local
/// inference of builders and by ShapeAnalysis.
class DimScope {
public:
  virtual ~DimScope() = default;
  virtual TensorInfo lookup(mlir::Value value) = 0;
  /// A size about which nothing is known.
  virtual mlir::AffineExpr unknown() = 0;
  /// The size that element `index` of an integer tensor holds at run time.
  virtual mlir::AffineExpr fromData(mlir::Value tensor, int64_t index) = 0;
  /// Notes that both sizes must agree at run time.
  virtual void constrain(mlir::AffineExpr left, mlir::AffineExpr right,
                         mlir::Operation *op) = 0;
};

/// What a ChecksIndices op demands of an operand: lower <= element < upper.
struct IndexRange {
  mlir::Value indices;
  mlir::AffineExpr lower, upper;
};

/// The longest size, counted in operations, constants and symbols.
inline constexpr int64_t kMostSizeSteps = 1024;

/// The view that one op has of the shapes around it.
class InferContext {
public:
  InferContext(mlir::Operation *op, DimScope &scope) : op(op), scope(scope) {}

  mlir::MLIRContext *context() const { return op->getContext(); }
  TensorInfo of(mlir::Value value) { return scope.lookup(value); }
  mlir::AffineExpr constant(int64_t size) const {
    return mlir::getAffineConstantExpr(size, context());
  }
  mlir::AffineExpr unknown() { return scope.unknown(); }
  /// Element `index` of a shape-like tensor, as an expression where possible.
  mlir::AffineExpr element(mlir::Value tensor, int64_t index);

  /// The common size of two that must agree (the more static one), or an
  /// error saying `what` disagrees.
  mlir::FailureOr<mlir::AffineExpr> equal(mlir::AffineExpr a, mlir::AffineExpr b,
                                          const llvm::Twine &what);
  /// numpy broadcasting; sizes that are not static must agree.
  mlir::FailureOr<Shape> broadcast(llvm::ArrayRef<Shape> shapes);

  void addResult(Shape dims, mlir::Type element,
                 std::optional<llvm::SmallVector<mlir::AffineExpr>> contents = {}) {
    results.push_back({std::move(dims), element, std::move(contents)});
  }
  mlir::InFlightDiagnostic error() { return op->emitOpError(); }

  mlir::Operation *const op;
  llvm::SmallVector<TensorInfo> results;

private:
  DimScope &scope;
};

/// Static sizes become static, all others `?`.
mlir::RankedTensorType toTensorType(const TensorInfo &info);
/// The constant that `expr` is, if it is one.
std::optional<int64_t> constantSize(mlir::AffineExpr expr);
/// Product of sizes; 1 for none.
mlir::AffineExpr product(llvm::ArrayRef<mlir::AffineExpr> dims,
                         mlir::MLIRContext *context);

/// InferType's default, for Elementwise ops.
llvm::LogicalResult inferElementwise(mlir::Operation *op, InferContext &c);
/// Holds the declared result types against the inferred ones.
llvm::LogicalResult verifyInferredTypes(mlir::Operation *op);
/// Sets the result types of `op` to the inferred ones.
llvm::LogicalResult refineResultTypes(mlir::Operation *op);
/// The same with what `scope` knows about the operands; `results` gets what is known
/// about the results.
llvm::LogicalResult refineResultTypes(mlir::Operation *op, DimScope &scope,
                                      llvm::SmallVector<TensorInfo> &results);
/// The elements of a small constant integer tensor, as sizes.
std::optional<llvm::SmallVector<mlir::AffineExpr>> constantContents(mlir::Value value);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_INFER_H
