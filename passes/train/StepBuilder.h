// Adds arguments, results and ops to the end of a function that becomes an entry.

#ifndef DLC_PASSES_TRAIN_STEPBUILDER_H
#define DLC_PASSES_TRAIN_STEPBUILDER_H

#include "passes/train/Emitter.h"
#include "passes/train/Losses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

class StepBuilder {
public:
  /// A copy of `like` under another name, at the end of its module.
  StepBuilder(mlir::func::FuncOp like, llvm::StringRef name);
  /// A function without arguments and results.
  StepBuilder(mlir::ModuleOp module, llvm::StringRef name, mlir::StringAttr modelName);

  mlir::func::FuncOp function() const { return func; }
  Emitter &emit() { return emitter; }
  mlir::OpBuilder &builder() { return b; }

  bool hasInput(llvm::StringRef name) const;
  mlir::BlockArgument addInput(llvm::StringRef name, mlir::Type type, mlir::ArrayAttr dims);
  /// The argument that is a state; made when there is none yet. Without an initial value
  /// it begins as zeros.
  mlir::BlockArgument state(mlir::StringAttr name, mlir::Type type, llvm::StringRef role,
                            mlir::ElementsAttr initial = {});
  /// A rank-0 state that counts.
  mlir::BlockArgument counter(llvm::StringRef name);
  void addResult(llvm::StringRef name, mlir::Value value);
  /// `value` is null: the state stays as it is.
  void update(mlir::BlockArgument state, mlir::Value value);
  /// Removes the results that are outputs; those that are states stay.
  void dropOutputs();

  mlir::StringAttr stateName(unsigned argument) const;
  mlir::Value outputCalled(llvm::StringRef name) const;

private:
  void addResult(mlir::NamedAttribute attr, mlir::Value value);

  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  Emitter emitter;
};

} // namespace dlc

#endif // DLC_PASSES_TRAIN_STEPBUILDER_H
