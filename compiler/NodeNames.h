// The ONNX nodes that a location stands for.

#ifndef DLC_COMPILER_NODENAMES_H
#define DLC_COMPILER_NODENAMES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"

namespace dlc {

inline void collectNodes(mlir::Location loc, llvm::SetVector<mlir::StringAttr> &names) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc))
    names.insert(name.getName());
  else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc))
    for (mlir::Location part : fused.getLocations())
      collectNodes(part, names);
}

} // namespace dlc

#endif // DLC_COMPILER_NODENAMES_H
