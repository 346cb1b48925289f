// The ONNX nodes that a location stands for.

#ifndef DLC_COMPILER_NODENAMES_H
#define DLC_COMPILER_NODENAMES_H

#include "dialects/plan/Plan.h"

#include "mlir/IR/Location.h"

namespace dlc {

/// In order of appearance, each once. A frontend gives a node's ops its name, over the
/// name of the node's op.
llvm::SmallVector<plan::NodeAttr> collectNodes(mlir::Location loc);

} // namespace dlc

#endif // DLC_COMPILER_NODENAMES_H
