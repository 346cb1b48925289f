// A thin layer over OpBuilder for kernels on raw pointers: 64-bit arithmetic,
// loads and stores of vectors, loops that carry values.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_KERNELBUILDER_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_KERNELBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

#include <string>

namespace dlc::cpu {

class KernelBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  KernelBuilder(mlir::OpBuilder &b, mlir::Location loc, int64_t lanes)
      : b(b), loc(loc), lanes(lanes) {}

  /// `<name>_work` and `<name>` of KernelAbi.h: emits from now on go into their bodies.
  mlir::func::FuncOp beginWork(const std::string &name);
  mlir::func::FuncOp beginKernel(const std::string &name);
  mlir::func::FuncOp beginFunction(const std::string &name, llvm::ArrayRef<mlir::Type> inputs,
                                   mlir::Type output);
  /// The numbers that a kernel's shapes are computed from: `_work`'s argument, or of a call.
  Values loadSizes(Value dims, unsigned count);
  Value dimsOf(Value call) { return loadPointer(offset(call, integer(1), 8)); }
  Values loadBuffers(Value call, unsigned count);

  mlir::Type i64() { return b.getI64Type(); }
  mlir::Type pointer();
  mlir::Type vector();

  Value integer(int64_t value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y); // both are not negative
  Value rem(Value x, Value y);
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value less(Value x, Value y);
  Value equal(Value x, Value y);
  Value both(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value ceilDiv(Value x, int64_t y) { return div(add(x, integer(y - 1)), integer(y)); }
  /// 0 <= x < bound, as one unsigned comparison.
  Value inside(Value x, Value bound);
  /// An affine expression over `symbols`.
  Value expand(mlir::AffineExpr expr, llvm::ArrayRef<Value> symbols);

  /// base + index elements of `elementBytes`.
  Value offset(Value base, Value index, int64_t elementBytes = 4);
  /// Memory of the call (KernelAbi.h); null when there is none left.
  Value scratch(Value call, Value sizeBytes);
  Value stack(int64_t sizeBytes);
  Value isNull(Value pointer);
  Value loadPointer(Value address);
  Value loadInteger(Value address);
  Value loadFloat(Value address);
  /// Vector access; `active` < lanes masks the rest off (they load as zero).
  Value loadVector(Value address, int64_t active);
  void storeVector(Value vector, Value address, int64_t active);
  /// Lanes [0, active) of a number that is known only at run time.
  Value maskBelow(Value active);
  Value loadMasked(Value address, Value mask);
  void storeMasked(Value vector, Value address, Value mask);
  Value shuffle(Value x, Value y, llvm::ArrayRef<int64_t> lanes);
  Value splat(Value scalar);
  Value zeros();
  Value fma(Value x, Value y, Value accumulator);

  using LoopBody = llvm::function_ref<Values(Value index, llvm::ArrayRef<Value> carried)>;
  Values loop(Value begin, Value end, llvm::ArrayRef<Value> init, LoopBody body);
  void loop(Value begin, Value end, llvm::function_ref<void(Value)> body);
  Values ifElse(Value condition, mlir::TypeRange types,
                llvm::function_ref<Values()> onTrue,
                llvm::function_ref<Values()> onFalse);
  void ifThen(Value condition, llvm::function_ref<void()> body);

  /// Inlines a function of scalars on vectors.
  Value applyVectorised(mlir::func::FuncOp function, llvm::ArrayRef<Value> args);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const int64_t lanes;

private:
  Value mask(int64_t active);
};

struct ContractionKernel;

/// The kernel's epilogue on a vector of accumulators. `element` and `channel`
/// are the positions of its first lane in the output and along its last axis.
mlir::Value applyEpilogue(KernelBuilder &m, const ContractionKernel &kernel,
                          llvm::ArrayRef<mlir::Value> buffers, mlir::Value accumulator,
                          mlir::Value element, mlir::Value channel, int64_t active);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_KERNELBUILDER_H
