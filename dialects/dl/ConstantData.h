// The bytes of constants: dense, row-major, as kernels and artifacts hold them
// (bool one byte each, 4-bit integers one byte each here).

#ifndef DLC_DIALECTS_DL_CONSTANTDATA_H
#define DLC_DIALECTS_DL_CONSTANTDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <vector>

namespace dlc::dl {

/// Bytes of one element in memory.
int64_t elementBytes(mlir::Type element);
/// Bytes of a static tensor, or nullopt when that overflows.
std::optional<int64_t> tensorBytes(mlir::RankedTensorType type);

/// The elements of `value`. `storage` backs the result where the attribute
/// itself does not hold them that way (splats, bools).
llvm::ArrayRef<char> constantBytes(mlir::ElementsAttr value,
                                   std::vector<char> &storage);

/// A constant over a copy of `bytes`: DenseElementsAttr when small, else a
/// resource that its name keeps alive with the context.
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    llvm::ArrayRef<char> bytes);

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_CONSTANTDATA_H
