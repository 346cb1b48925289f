// What LowersToLinalg implementations build with: the lowered operands, the
// sizes of every dl value, and the usual shapes of linalg ops.
//
// Storage types in linalg: signless integers; bool as i8 holding 0 or 1.
// Compute types in a body: f16, bf16 and 8-bit floats as f32; bool as i1.

#ifndef DLC_DIALECTS_DL_LINALGLOWERING_H
#define DLC_DIALECTS_DL_LINALGLOWERING_H

#include "dialects/dl/Dl.h"
#include "dialects/dl/ScalarMath.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

namespace dlc::dl {

/// The element type in memory: signless, bool as i8.
mlir::Type storageType(mlir::Type element);
/// The element type of arithmetic.
mlir::Type computeType(mlir::Type element);
/// Converts a scalar or vector between the storage and compute type of `element`.
mlir::Value toCompute(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored,
                      mlir::Type element);
mlir::Value toStorage(mlir::OpBuilder &b, mlir::Location loc, mlir::Value computed,
                      mlir::Type element);

class LinalgLowering {
public:
  /// Gives the size of one axis of a dl value: an index attribute or a Value.
  using DimFn = std::function<mlir::OpFoldResult(mlir::Value, int64_t)>;

  LinalgLowering(mlir::OpBuilder &b, mlir::Location loc, mlir::IRMapping &lowered,
                 DimFn dim)
      : b(b), loc(loc), lowered(lowered), dimFn(std::move(dim)) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  /// The lowered tensor of a dl operand; null for an omitted one.
  mlir::Value operand(mlir::Value value) {
    return value ? lowered.lookup(value) : mlir::Value();
  }
  /// The lowered type of a dl value.
  mlir::RankedTensorType type(mlir::Value value);
  /// The dl element type (which knows signedness and bool).
  mlir::Type element(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
  }
  int64_t rank(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType()).getRank();
  }
  mlir::OpFoldResult dim(mlir::Value value, int64_t axis) {
    return dimFn(value, axis);
  }
  llvm::SmallVector<mlir::OpFoldResult> dims(mlir::Value value);
  /// A size as an index value.
  mlir::Value dimValue(mlir::Value value, int64_t axis);
  mlir::Value index(int64_t value);
  mlir::Value asValue(mlir::OpFoldResult size);

  /// An uninitialised tensor of the shape and storage type of a dl value.
  mlir::Value empty(mlir::Value like);
  /// The same, filled with a scalar of the storage type.
  mlir::Value filled(mlir::Value like, mlir::Value scalar);
  /// Uninitialised, of any sizes and a storage type.
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type storage);
  mlir::Value filled(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value scalar);
  /// A constant scalar: of a float type, or an integer truncated to the type.
  mlir::Value scalar(mlir::Type type, double value);

  using BodyFn = llvm::function_ref<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  /// linalg.generic with one output: `inputs` read through `maps` (over the
  /// loop dims), the output through the last map. The body sees storage
  /// scalars, inputs then the output's old value.
  mlir::Value generic(mlir::ValueRange inputs, mlir::Value init,
                      llvm::ArrayRef<mlir::AffineMap> maps,
                      llvm::ArrayRef<mlir::utils::IteratorType> iterators,
                      BodyFn body);
  /// All-parallel generic over the shape of `like`: identity maps for every
  /// input; inputs must have that shape.
  mlir::Value map(mlir::ValueRange inputs, mlir::Value like, BodyFn body);

  /// A reduction: result = combine over the reduction loops, starting from
  /// `start`, of `body` applied to the inputs in compute precision. Narrow
  /// floats accumulate in f32 and are rounded once.
  using TermFn = llvm::function_ref<mlir::Value(ScalarMath &, mlir::ValueRange)>;
  using CombineFn = llvm::function_ref<mlir::Value(ScalarMath &, mlir::Value, mlir::Value)>;
  llvm::SmallVector<mlir::Value>
  reduce(mlir::ValueRange inputs, llvm::ArrayRef<mlir::Type> elements,
         mlir::Value result, double start, llvm::ArrayRef<mlir::AffineMap> maps,
         llvm::ArrayRef<mlir::utils::IteratorType> iterators, TermFn term,
         CombineFn combine);
  /// The sum of terms.
  llvm::SmallVector<mlir::Value>
  accumulate(mlir::ValueRange inputs, mlir::Value result,
             llvm::ArrayRef<mlir::AffineMap> maps,
             llvm::ArrayRef<mlir::utils::IteratorType> iterators, TermFn term);
  /// Rounds a tensor in compute precision to the storage of `like`.
  mlir::Value toStored(mlir::Value computed, mlir::Value like);

  /// The map by which a dl operand broadcasts to `rank` loop dims.
  mlir::AffineMap broadcastMap(mlir::Value operand, int64_t rank);

private:
  mlir::IRMapping &lowered;
  DimFn dimFn;
};

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_LINALGLOWERING_H
