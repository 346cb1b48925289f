// Symbolic shapes of a whole function: every size as an expression over named
// symbols, the constraints a run must satisfy, and where symbols come from.

#ifndef DLC_PASSES_SHAPEANALYSIS_H
#define DLC_PASSES_SHAPEANALYSIS_H

#include "dialects/dl/Infer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <string>

namespace dlc {

/// A function argument may carry `dl.dims`: an array that holds, per axis, a
/// size or the name of a symbol. The function may carry `dl.symbol_bounds`: a
/// dictionary from symbol names to [lower, upper].
inline constexpr llvm::StringLiteral kDimsAttr = "dl.dims";
inline constexpr llvm::StringLiteral kSymbolBoundsAttr = "dl.symbol_bounds";

struct DimSymbol {
  enum Kind {
    Input,  // bound by the shape of an input
    Data,   // bound by an element of an integer tensor during the run
    Unknown // nothing binds it: such a program cannot be planned
  };
  std::string name;
  int64_t lower = 0, upper = INT64_MAX;
  Kind kind = Unknown;
  mlir::Value tensor; // Data: the tensor and the element
  int64_t index = 0;
};

struct DimConstraint {
  mlir::AffineExpr left, right;
  mlir::Operation *op;
};

class ShapeAnalysis : public dl::DimScope {
public:
  /// Null, with an error emitted, when an op's operands do not fit.
  static std::unique_ptr<ShapeAnalysis> run(mlir::func::FuncOp function);

  dl::TensorInfo lookup(mlir::Value value) override;
  mlir::AffineExpr unknown() override;
  mlir::AffineExpr fromData(mlir::Value tensor, int64_t index) override;
  void constrain(mlir::AffineExpr left, mlir::AffineExpr right,
                 mlir::Operation *op) override;

  llvm::ArrayRef<DimSymbol> symbols() const { return symbolTable; }
  llvm::ArrayRef<DimConstraint> constraints() const { return constraintList; }
  /// Gives `value` the info of a value that it replaces or copies.
  void set(mlir::Value value, dl::TensorInfo info) {
    infos[value] = std::move(info);
  }

private:
  explicit ShapeAnalysis(mlir::MLIRContext *context) : context(context) {}

  mlir::AffineExpr addSymbol(DimSymbol symbol);
  mlir::AffineExpr named(llvm::StringRef name, mlir::DictionaryAttr bounds);
  void visitArguments(mlir::func::FuncOp function);
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visitOp(mlir::Operation *op);

  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, dl::TensorInfo> infos;
  llvm::DenseMap<mlir::Value, mlir::Value> kernelOperands; // by body argument
  llvm::StringMap<mlir::AffineExpr> namedSymbols;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::AffineExpr> dataSymbols;
  llvm::SmallVector<DimSymbol> symbolTable;
  llvm::SmallVector<DimConstraint> constraintList;
};

} // namespace dlc

#endif // DLC_PASSES_SHAPEANALYSIS_H
