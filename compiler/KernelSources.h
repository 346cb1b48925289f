// Collects the kernels of a program as linalg source text; kernels that say the
// same are one.

#ifndef DLC_COMPILER_KERNELSOURCES_H
#define DLC_COMPILER_KERNELSOURCES_H

#include "compiler/targets/cpu/CpuTarget.h"
#include "passes/KernelLowering.h"

#include "dialects/dl/ops/Structure.h"

#include <string>
#include <vector>

namespace dlc {

class KernelSources {
public:
  struct Source {
    std::string name; // readable and unique: "add_relu_3"
    std::string ir;   // one func.func, no locations
    std::string nodes; // the ONNX nodes of its first use, for messages
    /// The sizes of `ir` begin at this one of the kernel's size arguments.
    unsigned firstSize = 0;
    /// For a contraction: emits it on a worker's context instead.
    std::function<void(mlir::OpBuilder &, const cpu::CpuInfo &)> emit;
  };
  struct Use {
    size_t source;                             // index into sources()
    llvm::SmallVector<mlir::AffineExpr> sizes; // the kernel's size arguments
    /// Pairs (input, output) that may be one buffer.
    llvm::SmallVector<int64_t> inplace = {};
  };

  /// Lowers `kernel` unless an identical one is known.
  mlir::FailureOr<Use> add(dl::KernelOp kernel, ShapeAnalysis &shapes);

  llvm::ArrayRef<Source> sources() const { return list; }

  /// Contractions keep their linalg text too, for targets that compile it.
  bool keepLinalg = false;

private:
  std::vector<Source> list;
  llvm::StringMap<size_t> byText;
};

} // namespace dlc

#endif // DLC_COMPILER_KERNELSOURCES_H
